import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
let built: string;

beforeAll(() => {
  // Below node_modules, so that the built files find the dependencies.
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  built = mkdtempSync(join(cache, 'import-cost-'));
  execFileSync(process.execPath, [join(root, 'scripts/bundle.mjs'), join(built, 'dist')]);
  cpSync(join(root, 'package.json'), join(built, 'package.json'));
});

afterAll(() => rmSync(built, { recursive: true, force: true }));

/** Megabytes of one program of its own; without an entry it imports nothing of ours. */
function measure(entry: string | undefined): number {
  // A program with no import at all would not even start the module loader.
  const target = entry === undefined ? 'node:path' : urlOf(entry);
  const program = `
    await import(${JSON.stringify(target)});
    gc();
    console.log(process.memoryUsage.rss() / 1e6);`;
  const { stdout, stderr } = node(['--expose-gc', '--input-type=module', '-e', program]);
  expect(stderr).toBe('');
  return Number(stdout);
}

function urlOf(entry: string): string {
  return pathToFileURL(join(built, 'dist', entry)).href;
}

function node(parameters: string[]) {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME };
  return spawnSync(process.execPath, parameters, { cwd: built, encoding: 'utf8', env });
}

function isFacts(file: string): boolean {
  // Whose key has signed a call to AWS is a fact, too: several providers may read it.
  return /^src\/batchers\/[^/]+\/[^/]+-(info|identity)\.ts$/.test(file);
}

interface Loaded {
  /** Our files and those of packages. */
  readonly files: readonly string[];
  /** Our modules, which the files are made of. */
  readonly modules: readonly string[];
  readonly ofNode: readonly string[];
}

/**
 * Everything the program has loaded: files through a hook of the module loader, which sees ES modules
 * and CommonJS alike, and Node's own modules by their names.
 */
function loadedBy(entry: string): Loaded {
  const hooks = `
    import { writeSync } from 'node:fs';
    export async function load(url, context, next) {
      writeSync(2, url + '\\n');
      return next(url, context);
    }`;
  const program = `
    import { register, createRequire } from 'node:module';
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}));
    await import(${JSON.stringify(urlOf(entry))});
    const required = Object.keys(createRequire(import.meta.url).cache);
    const ofNode = process.moduleLoadList.filter((name) => name.startsWith('NativeModule '));
    console.log(JSON.stringify({ required, ofNode }));`;
  const { stdout, stderr } = node(['--input-type=module', '-e', program]);
  const { required, ofNode } = JSON.parse(stdout) as { required: string[]; ofNode: string[] };
  const urls = stderr.split('\n').filter((line) => line !== '');
  const files = [...urls, ...required];
  return {
    files,
    modules: files.filter((url) => url.includes('/dist/')).flatMap(modulesOf),
    ofNode,
  };
}

/** The bundler names each module in a comment. */
function modulesOf(url: string): string[] {
  const names = readFileSync(fileURLToPath(url), 'utf8').matchAll(
    /^\/\/(?:#region)? (src\/\S+\.ts)$/gm,
  );
  return [...names].map(([, name]) => name!);
}

describe.each(['index.js', 'core.js'])('importing %s', (entry) => {
  // The 30 milliseconds are a row of the bench: a time is no assertion. What they are made of is.
  it('costs less than 10 MB and 110 modules, the facts of providers apart', () => {
    const bare: number[] = [];
    const ours: number[] = [];
    // In turns, so that a busy moment of the machine meets both.
    for (let round = 0; round < 3; round += 1) {
      bare.push(measure(undefined));
      ours.push(measure(entry));
    }
    expect(Math.min(...ours) - Math.min(...bare)).toBeLessThan(10);
    const { modules } = loadedBy(entry);
    const facts = modules.filter(isFacts);
    expect(facts.length).toBeLessThan(16);
    expect(modules.length - facts.length).toBeLessThan(110);
    // Of a provider nothing but its facts is loaded.
    const ofProviders = modules.filter((name) => /^src\/batchers\/[^/]+\//.test(name));
    expect(ofProviders.filter((name) => !isFacts(name))).toEqual([]);
  });

  it('loads its own modules, in less than ten files, and none of what only a batch needs', () => {
    const { files, modules, ofNode } = loadedBy(entry);
    expect(modules).toContain('src/scope/batching-context.ts');
    expect(files.filter((file) => file.includes('/dist/')).length).toBeLessThan(10);
    const late =
      /^src\/(orchestrator\/engine\.ts|ledger\/(sqlite|memory)|simulator\/|cli\/|http\/client\.ts)/;
    expect(modules.filter((name) => late.test(name))).toEqual([]);
    const packages = /\/(undici|@photostructure\/sqlite|commander|genai-prices)\//;
    expect(files.filter((file) => packages.test(file))).toEqual([]);
    expect(ofNode.filter((name) => /sqlite/.test(name))).toEqual([]);
  });
});

it('sees an engine that is loaded', () => {
  const chunk = readdirSync(join(built, 'dist/chunks')).find((name) => name.startsWith('engine-'))!;
  expect(loadedBy(`chunks/${chunk}`).modules).toContain('src/orchestrator/engine.ts');
});
