import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { jsonLines, type MapBench, mapBench, openaiLine } from './map-bench.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const input = Array.from(
  { length: 40 },
  (_, index) => `${openaiLine(`c${index}`, `p${index}`)}\n`,
).join('');
const given = ['in.jsonl', '-o', 'out.jsonl', '--batch-size', '10'];
const dry = ['--dry-run', '--display', 'plain'];

/** What a dry run must leave alone. */
async function traces(bench: MapBench): Promise<unknown> {
  const files = ['out.jsonl', 'out.jsonl.errors.jsonl', 'out.jsonl.batchling.json'];
  const texts = files.map((name) => bench.read(name).catch(() => undefined));
  return { files: await Promise.all(texts), asked: stage.simulator.requests.length };
}

describe('a dry run of a job that has begun', () => {
  it('sends and collects nothing while its batches run, and when they have ended', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': input });
    stage.simulator.hold();
    expect(await bench.map(...given, '--detach')).toMatchObject({ code: 75 });
    const before = await traces(bench);
    const held = await bench.map(...given, ...dry);
    expect(held).toMatchObject({ code: 0, stderr: expect.stringContaining('40 calls') });
    stage.simulator.release();
    expect(await bench.map(...given, ...dry)).toMatchObject({ code: 0 });
    expect(await traces(bench)).toEqual(before);
  });

  it('tells the cost of the lines that are not written', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': input });
    await bench.map(...given);
    const state = join(bench.folder, 'out.jsonl.batchling.json');
    const known = JSON.parse(await readFile(state, 'utf8'));
    const position = {
      part: 0,
      offset: input.split('\n').slice(0, 10).join('\n').length + 1,
      line: 10,
    };
    const progress = { ...known.progress, position, output: 0, done: 10 };
    await writeFile(state, JSON.stringify({ ...known, progress, isFinished: false }));
    const { code, stderr } = await bench.map(...given, ...dry);
    expect(code).toBe(0);
    expect(stderr).toContain('dry run: nothing was sent. 30 calls');
    expect(stderr).toContain('10 lines of it were written before');
  });

  it('asks none of the failed lines again', async () => {
    const rows = jsonLines(['a', '[[status 400]] b', 'c'].map((text) => ({ text })));
    const bench = await mapBench(stage, { 'in.jsonl': rows });
    const asked = ['--model', 'openai/gpt-5-mini', '--prompt', '{{text}}', '--attempts', '1'];
    const flags = ['in.jsonl', '-o', 'out.jsonl', ...asked];
    expect(await bench.map(...flags)).toMatchObject({ code: 1 });
    const before = await traces(bench);
    const { code, stderr } = await bench.map(...flags, '--retry-errors', ...dry);
    expect(code).toBe(0);
    expect(stderr).toContain('dry run: nothing was sent. 1 call');
    expect(await traces(bench)).toEqual(before);
  });
});
