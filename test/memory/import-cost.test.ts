import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
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
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const project = join(root, 'tsconfig.build.json');
  execFileSync(process.execPath, [compiler, '-p', project, '--outDir', join(built, 'dist')]);
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

/**
 * Megabytes. Ten for ourselves and the facts of two providers, what a further module of facts was measured
 * to cost, 0.04, for each of the others, and 0.2 that two measurements differ by.
 */
function mostMegabytes(modulesOfFacts: number): number {
  return 10.2 + 0.04 * (modulesOfFacts - 2);
}

function isFacts(file: string): boolean {
  return /\/dist\/batchers\/[^/]+\/[^/]+-info\.js$/.test(file);
}

/**
 * Everything the program has loaded: our files and those of packages through a hook of the module
 * loader, which sees ES modules and CommonJS alike, and Node's own modules by their names.
 */
function loadedBy(entry: string): { files: string[]; ofNode: string[] } {
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
  return { files: [...urls, ...required], ofNode };
}

describe.each(['index.js', 'core.js'])('importing %s', (entry) => {
  // The 30 milliseconds are a row of the bench: a time is no assertion. What they are made of is.
  it('costs about 10 MB at most and less than 80 files, the facts of providers apart', () => {
    const bare: number[] = [];
    const ours: number[] = [];
    // In turns, so that a busy moment of the machine meets both.
    for (let round = 0; round < 4; round += 1) {
      bare.push(measure(undefined));
      ours.push(measure(entry));
    }
    const { files } = loadedBy(entry);
    const own = files.filter((file) => file.includes('/dist/'));
    const facts = own.filter(isFacts).length;
    expect(facts).toBeLessThan(15);
    expect(own.length - facts).toBeLessThan(80);
    expect(Math.min(...ours) - Math.min(...bare)).toBeLessThan(mostMegabytes(facts));
    // Of a provider nothing but its facts is loaded.
    expect(own.filter((file) => /\/dist\/batchers\/[^/]+\//.test(file) && !isFacts(file))).toEqual(
      [],
    );
  });

  it('loads its own files, and none of what only a batch needs', () => {
    const { files, ofNode } = loadedBy(entry);
    expect(files).toContainEqual(expect.stringMatching(/\/dist\/scope\/batching-context\.js$/));
    const late =
      /\/(undici|@photostructure\/sqlite|commander|genai-prices)\/|\/dist\/(orchestrator\/engine\.js|ledger\/(sqlite|memory)|simulator\/|cli\/|http\/client\.js)/;
    expect(files.filter((file) => late.test(file))).toEqual([]);
    expect(ofNode.filter((name) => /sqlite/.test(name))).toEqual([]);
  });
});

it('sees an engine that is loaded', () => {
  const { files } = loadedBy('orchestrator/engine.js');
  expect(files).toContainEqual(expect.stringMatching(/\/dist\/orchestrator\/engine\.js$/));
});
