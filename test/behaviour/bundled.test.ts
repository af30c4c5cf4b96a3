import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatRequest } from '../support/ask.ts';
import { chatUrl } from '../support/source-of.ts';
import { openStage, type Stage } from '../support/stage.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = fileURLToPath(new URL('../support/programs/bundled.ts', import.meta.url));
const packages = ['@photostructure/sqlite', 'undici'];

let stage: Stage;
let folder: string;

beforeAll(async () => {
  stage = await openStage();
  // Below the packages, as a program that is deployed with them.
  const cache = join(root, 'node_modules', '.cache');
  await mkdir(cache, { recursive: true });
  folder = await mkdtemp(join(cache, 'batchling-bundled-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await stage.close();
});

/** Bundles a program with the bundler that tsx brings along. */
async function bundle(format: 'esm' | 'cjs', external: readonly string[]): Promise<string> {
  const esbuild = createRequire(createRequire(import.meta.url).resolve('tsx')).resolve('esbuild');
  const { default: bundler } = (await import(pathToFileURL(esbuild).href)) as {
    default: { build(options: object): Promise<unknown> };
  };
  const extension = format === 'esm' ? 'mjs' : 'cjs';
  const outfile = join(folder, `${format}-${external.length}.${extension}`);
  await bundler.build({
    entryPoints: [program],
    bundle: true,
    platform: 'node',
    target: 'node20',
    logLevel: 'silent',
    format,
    external,
    outfile,
  });
  return outfile;
}

async function run(path: string): Promise<[status: number, body: string]> {
  const input = { url: chatUrl(stage), request: chatRequest('bundled'), options: stage.options() };
  const { stdout } = await promisify(execFile)(process.execPath, [path, JSON.stringify(input)]);
  return JSON.parse(stdout) as [number, string];
}

describe.each(['esm', 'cjs'] as const)('a program bundled as %s', (format) => {
  it('works with the packages left outside that no bundler can take in', async () => {
    const [status, body] = await run(await bundle(format, packages));
    expect(body).toContain('answer to');
    expect(status).toBe(200);
  });

  it('says which packages to leave outside where it does not work without them', async () => {
    const [status, body] = await run(await bundle(format, []));
    // Where SQLite is built in nothing is missing, as undici fits into CommonJS.
    const hasSqlite = process.getBuiltinModule('node:sqlite') !== undefined;
    expect(status === 200).toBe(hasSqlite && format === 'cjs');
    if (status !== 200)
      expect(body).toContain('mark @photostructure/sqlite and undici as external');
  });
});
