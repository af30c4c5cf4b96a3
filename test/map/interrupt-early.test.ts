import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mapLines } from '../../src/index.ts';
import { compiledCli } from '../support/processes/compiled.ts';
import { type RunningCli, variablesOf } from '../support/processes/run-cli.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { runCommand } from '../support/terminal/run-in-terminal.ts';
import { until } from '../support/until.ts';
import { type MapBench, mapBench, openaiLine } from './map-bench.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const note = 'interrupted: this run has sent nothing. The same command starts it again';
const plain = ['-o', 'out.jsonl', '--display', 'plain'];
const line = `${openaiLine('a', 'hello')}\n`;
const signals = ['SIGINT', 'SIGTERM'] as const;

/** Resolves when the job has begun with its input, which it does in this folder. */
async function begun({ folder }: MapBench, file: string): Promise<void> {
  const path = join(folder, 'out.jsonl.batchling', file);
  await expect.poll(() => existsSync(path)).toBe(true);
}

async function outputsIn({ folder }: MapBench): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith('out'));
}

async function expectNothingLeft(run: RunningCli, bench: MapBench): Promise<void> {
  expect(await run.ended).toMatchObject({ code: 130, stderr: expect.stringContaining(note) });
  expect(await outputsIn(bench)).toEqual([]);
  expect(stage.simulator.meter.total).toBe(0);
}

describe('a job that is interrupted before anything is sent ends with 130 and leaves nothing', () => {
  it.each(signals)('while standard input is copied, which stays open: %s', async (signal) => {
    const bench = await mapBench(stage);
    const run = await bench.startWith({ input: line, isInputOpen: true }, '-', ...plain);
    await begun(bench, 'input-0');
    run.process.kill(signal);
    await expectNothingLeft(run, bench);
    expect(await bench.with({ input: line }, '-', ...plain)).toMatchObject({ code: 0 });
    expect(stage.simulator.meter.total).toBe(1);
  });

  it('while a table on standard input is copied', async () => {
    const bench = await mapBench(stage);
    const rows = ['--input', 'csv', '--model', 'openai/gpt-5-mini', '--prompt', '{{text}}'];
    const given = { input: 'text\nhello\n', isInputOpen: true };
    const run = await bench.startWith(given, '-', ...rows, ...plain);
    await begun(bench, 'input-0');
    run.process.kill('SIGINT');
    await expectNothingLeft(run, bench);
  });

  it('while the input is checked', async () => {
    const lines = Array.from({ length: 60_000 }, (_, at) => `${openaiLine(`c${at}`, `p${at}`)}\n`);
    const bench = await mapBench(stage, { 'in.jsonl': lines.join('') });
    const run = await bench.start('in.jsonl', ...plain);
    await begun(bench, 'lock');
    run.process.kill('SIGINT');
    await expectNothingLeft(run, bench);
    await writeFile(join(bench.folder, 'in.jsonl'), line);
    expect(await bench.map('in.jsonl', ...plain)).toMatchObject({ code: 0 });
  });

  it.skipIf(process.platform === 'win32')(
    'while it waits for the writer of a pipe: the system holds that read, and the process ends all the same',
    async () => {
      const bench = await mapBench(stage);
      execFileSync('mkfifo', [join(bench.folder, 'pipe')]);
      const run = await bench.start('pipe', ...plain);
      await begun(bench, 'input-0');
      run.process.kill('SIGINT');
      const { code, stderr } = await run.ended;
      expect(stderr).toContain(note);
      expect(await outputsIn(bench)).toEqual([]);
      expect(code ?? run.process.signalCode).toBe('SIGINT');
    },
  );
});

describe('at the question whether a job may cost that much', () => {
  it.each([
    ['Ctrl-C interrupts the job', '\u0003', 130, note],
    ['Ctrl-D says no', '\u0004', 1, 'Send 1 line for a price that is not known?'],
  ])('%s', async (_, key, code, told) => {
    const bench = await mapBench(stage, { 'in.jsonl': `${openaiLine('a', 'hello', 'new')}\n` });
    const paths = ['in.jsonl', '-o', 'out.jsonl'].map((word) =>
      word === '-o' ? word : `'${join(bench.folder, word)}'`,
    );
    const command = [process.execPath, await compiledCli(), 'map', ...paths].join(' ');
    const environment = { ...variablesOf(stage), OPENAI_API_KEY: 'sk-test' };
    const run = runCommand(command, 200, environment);
    await until(() => run.written().includes('[y/N]'), 'the question');
    run.type(key);
    const { written, ...ended } = await run.ended;
    expect(ended.code).toBe(code);
    expect(written).toContain(told);
    expect(written).not.toContain('Abort');
    expect(await outputsIn(bench)).toEqual([]);
    expect(stage.simulator.meter.total).toBe(0);
  });
});

it('mapLines hears its signal while it waits for a line', async () => {
  const stop = new AbortController();
  const reason = new Error('enough');
  async function* oneLine() {
    yield line;
    setImmediate(() => stop.abort(reason));
    await new Promise(() => undefined);
  }
  const mapped = mapLines(oneLine(), { ...stage.options(), signal: stop.signal });
  await expect(mapped.next()).rejects.toBe(reason);
});
