import { execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { DryRunSummary } from '../../../src/index.ts';
import { compiledModule, compiledProgram } from '../../support/processes/compiled.ts';
import { type Finished, runProgram } from '../../support/processes/run-program.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const registered = fileURLToPath(
  new URL('../../support/programs/launched/registered.mjs', import.meta.url),
);

/** `node --import batchling/register program …` */
async function runRegistered(
  path: string,
  given: readonly string[],
  environment: Record<string, string>,
): Promise<Finished> {
  const base = stage.simulator.baseUrl('openai');
  const { BATCHLING_RUN: _, ...inherited } = process.env;
  const register = await compiledModule('src/register');
  const child = spawn(process.execPath, ['--import', register, path, ...given], {
    env: {
      ...inherited,
      BATCHLING_STORE: stage.newStore(),
      BATCHLING_HOSTS: `${base}=openai`,
      BATCHLING_WINDOW: '50ms',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

const url = () => `${stage.simulator.baseUrl('openai')}/chat/completions`;

it('a program that waits for a call that is only held back stays up until its dry run ends', async () => {
  const library = JSON.stringify(await compiledModule('src/index'));
  const program = `
    const { batchify } = await import(${library});
    const call = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const body = '{"model":"m","messages":[]}';
    const ask = () => fetch('http://127.0.0.1:9/v1/chat/completions', { ...call, body });
    await batchify(ask, { dryRun: true, window: '50ms', store: ':memory:' }).catch((error) => console.log(error.name));`;
  const given = ['--input-type=module', '-e', program];
  const { stdout } = await promisify(execFile)(process.execPath, given);
  expect(stdout).toBe('DryRunExit\n');
});

it('a process that is in batch mode as a whole prints the summary and exits with 0', async () => {
  const given = [url(), '3'];
  const environment = { BATCHLING_DRY_RUN: 'true', BATCHLING_DISPLAY: 'plain' };
  const run = await runRegistered(registered, given, environment);
  expect(run).toMatchObject({ code: 0, stdout: '' });
  expect(run.stderr).toContain('batchling: dry run: nothing was sent. 3 calls');
  expect(run.stderr).toContain('openai m: 3 requests, 1 batch');
  expect(run.stderr).toContain('price unknown');
  expect(run.stderr).toContain('--dry-run=deep');
  expect(stage.simulator.requests).toEqual([]);
});

it('a deep one lets it go on to its own end', async () => {
  const environment = { BATCHLING_DRY_RUN: 'deep', BATCHLING_DISPLAY: 'json' };
  const { code, stdout, stderr } = await runRegistered(registered, [url(), '2'], environment);
  expect({ code, lines: stdout.split('\n').length - 1 }).toEqual({ code: 0, lines: 2 });
  expect(stdout).toContain('placeholder');
  const summary = JSON.parse(stderr) as DryRunSummary & { event: string };
  expect(summary).toMatchObject({ event: 'dry-run', deep: true, calls: 2, batches: 1 });
  expect(stage.simulator.requests).toEqual([]);
});

it('a program that calls batchify itself ends with 0 under it, too', async () => {
  const input = {
    prompts: ['a', 'b'],
    baseURL: stage.simulator.baseUrl('openai'),
    options: {},
  };
  const given = [JSON.stringify(input)];
  const environment = { BATCHLING_DRY_RUN: 'true', BATCHLING_DISPLAY: 'plain' };
  const run = await runRegistered(await compiledProgram('ask-all'), given, environment);
  expect(run).toMatchObject({ code: 0, stdout: '' });
  expect(run.stderr).toContain('2 calls');
});

it('a program that does not catch the end of its dry run ends, with the reason', async () => {
  const options = stage.options({ dryRun: true, display: 'plain' });
  const baseURL = stage.simulator.baseUrl('openai');
  const { code, stderr } = await runProgram('ask-all', { prompts: ['a'], baseURL, options });
  expect(code).toBe(1);
  expect(stderr).toContain('batchling: dry run: nothing was sent. 1 call');
  expect(stderr).toContain('DryRunExit');
  expect(stage.simulator.requests).toEqual([]);
});
