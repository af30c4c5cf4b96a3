import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url));

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly optionalDependencies?: Record<string, string>;
}

export interface LocalRegistry {
  readonly url: string;
  close(): void;
}

/**
 * A registry of npm on this machine. It has the package of the tarball, and all packages that are installed here, made into
 * tarballs when they are asked for. So `npm install` needs no network, and no cache of npm.
 */
export async function startRegistry(folder: string, tarball: string): Promise<LocalRegistry> {
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1);
    const [, packed] = /^(.*)\.tar$/.exec(path) ?? [];
    try {
      const body = packed === undefined ? await manifestOf(path) : await tarballOf(packed);
      response.end(body);
    } catch {
      response.writeHead(404).end('{}');
    }
  });

  async function manifestOf(name: string): Promise<string> {
    const read = async (path: string) => JSON.parse(await readFile(path, 'utf8')) as Manifest;
    const place = name === 'batchling' ? join(modules, '..') : join(modules, name);
    const { optionalDependencies = {}, ...manifest } = await read(join(place, 'package.json'));
    // Binaries of other platforms are not here.
    const optional = Object.entries(optionalDependencies).filter(([each]) => {
      return existsSync(join(modules, each));
    });
    const version = {
      ...manifest,
      optionalDependencies: Object.fromEntries(optional),
      dist: { tarball: `${url(server)}/${name}.tar` },
    };
    const versions = { [manifest.version]: version };
    return JSON.stringify({ name, 'dist-tags': { latest: manifest.version }, versions });
  }

  async function tarballOf(name: string): Promise<Buffer> {
    if (name === 'batchling') return readFile(tarball);
    const place = join(folder, 'registry', name.replace('/', '-'));
    await mkdir(place, { recursive: true });
    // What is in a tarball lies below `package/`.
    await symlink(join(modules, name), join(place, 'package')).catch(() => undefined);
    const path = `${place}.tar`;
    await promisify(execFile)('tar', ['-chf', path, '-C', place, 'package']);
    return readFile(path);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: url(server), close: () => server.close() };
}

function url(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
