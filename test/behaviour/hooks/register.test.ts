import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { compiledModule } from '../../support/processes/compiled.ts';
import { openStage, type Stage } from '../../support/stage.ts';

const programs = new URL('../../support/programs/launched/', import.meta.url);
const program = fileURLToPath(new URL('registered.mjs', programs));
const beforeExit = fileURLToPath(new URL('before-exit.mjs', programs));

let stage: Stage;
let store: string;
let register: string;

beforeAll(async () => {
  stage = await openStage();
  // Compiled: worker threads do not get the loader that runs TypeScript.
  register = await compiledModule('src/register');
});
afterAll(() => stage.close());
beforeEach(() => {
  stage.simulator.reset();
  store = stage.newStore();
});

/** `node --import batchling/register program.mjs …` */
function launch(calls: number, form = '', environment: Record<string, string> = {}) {
  return start(program, [String(calls), form], environment);
}

function start(path: string, given: string[], environment: Record<string, string> = {}) {
  const { BATCHLING_RUN: _, ...inherited } = process.env;
  const base = stage.simulator.baseUrl('openai');
  const child = spawn(
    process.execPath,
    ['--import', register, path, `${base}/chat/completions`, ...given],
    {
      env: {
        ...inherited,
        BATCHLING_STORE: store,
        BATCHLING_HOSTS: `${base}=openai`,
        BATCHLING_WINDOW: '100ms',
        BATCHLING_POLL: '10ms',
        ...environment,
      },
    },
  );
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text) => {
    stdout += String(text);
  });
  child.stderr.on('data', (text) => {
    stderr += String(text);
  });
  return new Promise<{ code: number | null; lines: string[]; stderr: string }>((resolve) => {
    child.once('close', (code) => {
      resolve({ code, lines: stdout.split('\n').filter(Boolean), stderr });
    });
  });
}

it('batches a program that knows nothing of it, and lets it end by itself', async () => {
  const { code, lines, stderr } = await launch(3);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(lines).toHaveLength(3);
  expect(new Set(lines).size).toBe(3);
  for (const line of lines) expect(line).toContain('batch: answer to "registered"');
  expect(stage.simulator.meter).toMatchObject({ batched: 3, realtime: 0 });
});

it('serves a second launch from the ledger', async () => {
  const first = await launch(2);
  const second = await launch(2);
  const answers = (lines: string[]) => lines.map((line) => line.replace(/^\w+: /, '')).sort();
  expect(answers(second.lines)).toEqual(answers(first.lines));
  expect(second.lines.every((line) => line.startsWith('ledger: '))).toBe(true);
  expect(stage.simulator.meter.total).toBe(2);
});

it('leaves no trace in a program without LLM calls', async () => {
  expect(await launch(0)).toEqual({ code: 0, lines: [], stderr: '' });
  expect(existsSync(store)).toBe(false);
});

it('counts worker threads as processes of the same run', async () => {
  const { code, lines, stderr } = await launch(4, 'worker');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(lines).toHaveLength(12);
  expect(new Set(lines).size).toBe(12);
  expect(stage.simulator.meter.total).toBe(12);
});

it('says what is wrong with a variable before the program starts', async () => {
  const { code, lines, stderr } = await launch(1, '', { BATCHLING_ATTEMPTS: 'many' });
  expect(code).not.toBe(0);
  expect(lines).toEqual([]);
  expect(stderr).toContain('BATCHLING_ATTEMPTS');
});

it('is not noticed by listeners for the end of a program without LLM calls', async () => {
  expect(await start(beforeExit, [])).toEqual({ code: 0, lines: ['beforeExit'], stderr: '' });
});

it('batches calls that are made when the program is about to end', async () => {
  const { code, lines, stderr } = await start(beforeExit, ['asks']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(lines.filter((line) => line !== 'beforeExit')).toEqual([
    'before batch',
    'at the end, 1 batch',
    'at the end, 2 batch',
  ]);
  expect(stage.simulator.meter).toMatchObject({ batched: 3, realtime: 0 });
});

it('reports a variable that means nothing, with the one that was probably meant', async () => {
  const { code, lines, stderr } = await launch(1, '', { BATCHLING_BATCHSIZE: '10' });
  expect({ code, lines: lines.length }).toEqual({ code: 0, lines: 1 });
  expect(stderr.match(/BATCHLING_BATCHSIZE .*Did you mean BATCHLING_BATCH_SIZE\?/g)).toHaveLength(
    1,
  );
});
