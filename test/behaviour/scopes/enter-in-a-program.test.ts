import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatRequest } from '../../support/ask.ts';
import { compiledProgram, transpile } from '../../support/processes/compiled.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

/** Runs the program in a process of its own and returns where its answers came from. */
async function run(...program: readonly string[]): Promise<unknown> {
  const input = {
    url: chatUrl(stage),
    request: chatRequest('where from'),
    options: stage.options(),
  };
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...program,
    JSON.stringify({ ...input, options: { ...input.options, cache: false } }),
  ]);
  return JSON.parse(stdout);
}

const source = (name: string) =>
  fileURLToPath(new URL(`../../support/programs/loading/${name}.ts`, import.meta.url));

/** As it stands: for a Node that knows `await using`. */
async function nativeProgram(): Promise<string> {
  const [main, part] = await Promise.all(
    ['loading/entered-native', 'loading/entered-module'].map(compiledProgram),
  );
  const write = async (path: string, name: string) => {
    const text = await transpile(await readFile(source(name), 'utf8'), ts.ScriptTarget.ESNext);
    await writeFile(path, text.replaceAll('./entered-module.js', './entered-module-native.js'));
  };
  await write(main as string, 'entered');
  await write((part as string).replace(/\.js$/, '-native.js'), 'entered-module');
  return main as string;
}

function knowsAwaitUsing(): boolean {
  try {
    new Function('return async () => { await using one = null; }');
    return true;
  } catch {
    return false;
  }
}

const expected = {
  siblings: ['plain', ['batch', 'batch'], 'plain', ['batch', 'batch'], 'plain'],
  afterwards: 'plain',
  inside: 'batch',
  atTheEnd: 'plain',
};

describe('a scope entered by await using reaches neither siblings nor callers', () => {
  it('in code compiled by TypeScript', async () => {
    expect(await run(await compiledProgram('loading/entered'))).toEqual(expected);
  });

  it('in code compiled by esbuild', async () => {
    expect(await run('--import', 'tsx', source('entered'))).toEqual(expected);
  });

  it.runIf(knowsAwaitUsing())('in code that Node runs as it stands', async () => {
    expect(await run(await nativeProgram())).toEqual(expected);
  });
});
