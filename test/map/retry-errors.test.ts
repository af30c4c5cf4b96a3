import { appendFile, mkdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { jsonLines, type MapBench, mapBench } from './map-bench.ts';

let stage: Stage;
/** Texts that are answered with something else than an object, as often as this. */
const unfit = new Map<string, number>();
beforeAll(async () => {
  stage = await openStage({
    answer: ({ prompt }) => {
      const times = unfit.get(prompt) ?? 0;
      if (times === 0) return undefined;
      unfit.set(prompt, times - 1);
      return 'no JSON';
    },
  });
});
afterAll(() => stage.close());
beforeEach(() => {
  stage.simulator.reset();
  stage.simulator.faults.clear();
});

const asked = ['--model', 'openai/gpt-5-mini', '--prompt', '{{text}}', '--attempts', '1'];
const given = ['in.jsonl', '-o', 'out.jsonl', ...asked];
const rowsOf = (...texts: string[]) => jsonLines(texts.map((text) => ({ text })));
const once = (text: string) => `[[once status 400]] ${text}`;

/** Each text with what it was answered, which names the text. */
async function rowsIn(bench: MapBench): Promise<unknown[]> {
  const rows = await bench.lines('out.jsonl');
  for (const { text, answer } of rows) expect(answer).toContain(String(text).slice(-1));
  return rows.map(({ text }) => text);
}

describe('--retry-errors', () => {
  it('has nothing to do once no line is left that failed', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': rowsOf('a', once('b'), 'c') });
    const display = ['--display', 'plain'];
    const first = await bench.map(...given, ...display);
    expect(first).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--retry-errors asks'),
    });
    expect(await bench.map(...given, '--retry-errors')).toMatchObject({ code: 0 });
    const again = await bench.map(...given, '--retry-errors', ...display);
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('nothing to do') });
    expect(await rowsIn(bench)).toEqual(['a', once('b'), 'c']);
    await expect(bench.read('out.jsonl.errors.jsonl')).rejects.toThrow('ENOENT');
  });

  it('can be killed while it runs, and goes on', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': rowsOf(once('a'), 'b', once('c')) });
    expect(await bench.map(...given)).toMatchObject({ code: 1 });
    stage.simulator.hold();
    const batches = stage.simulator.batches().length;
    const first = await bench.start(...given, '--retry-errors');
    await expect.poll(() => stage.simulator.batches().length).toBe(batches + 1);
    first.process.kill('SIGKILL');
    await first.ended;
    stage.simulator.release();
    expect(await bench.map(...given, '--retry-errors')).toMatchObject({ code: 0 });
    expect(await rowsIn(bench)).toEqual([once('a'), 'b', once('c')]);
    expect(stage.simulator.meter.summary()).toMatchObject({ total: 3, executedTwice: [] });
  });

  it('takes nothing from a try that was given up when the job began anew', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': rowsOf(once('a'), 'b', once('c')) });
    expect(await bench.map(...given)).toMatchObject({ code: 1 });
    // The try ends just before its answers would come to their places.
    const merged = join(bench.folder, 'out.jsonl.merged');
    await mkdir(merged);
    expect((await bench.map(...given, '--retry-errors')).stderr).toContain('EISDIR');
    await rmdir(merged);
    await writeFile(join(bench.folder, 'in.jsonl'), rowsOf('a', once('d'), 'c'));
    expect(await bench.map(...given, '--restart')).toMatchObject({ code: 1 });
    expect(await bench.map(...given, '--retry-errors')).toMatchObject({ code: 0 });
    expect(await rowsIn(bench)).toEqual(['a', once('d'), 'c']);
  });

  it('refuses an output that somebody has changed: new answers would come to wrong places', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': rowsOf('a', once('b'), 'c') });
    expect(await bench.map(...given)).toMatchObject({ code: 1 });
    await appendFile(join(bench.folder, 'out.jsonl'), '{"text":"mine"}\n');
    const refused = await bench.map(...given, '--retry-errors');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('out.jsonl changed after the job was done');
  });

  it('asks lines anew whose answers did not fit, and pays for each try once, also when it is killed', async () => {
    unfit.set('b', 2);
    const schema = { type: 'object', properties: { mood: { type: 'string' } }, required: ['mood'] };
    const bench = await mapBench(stage, {
      'in.jsonl': rowsOf('a', 'b', 'b', 'c'),
      'schema.json': JSON.stringify(schema),
    });
    const fitting = [...given, '--schema', 'schema.json'];
    expect(await bench.map(...fitting)).toMatchObject({ code: 1 });
    expect(await bench.lines('out.jsonl.errors.jsonl')).toMatchObject([{ line: 2 }, { line: 3 }]);
    expect(stage.simulator.meter.total).toBe(4);
    unfit.set('b', 1);
    stage.simulator.hold();
    const killed = await bench.start(...fitting, '--retry-errors');
    await expect.poll(() => stage.simulator.batches().length).toBe(2);
    killed.process.kill('SIGKILL');
    await killed.ended;
    stage.simulator.release();
    expect(await bench.map(...fitting, '--retry-errors')).toMatchObject({ code: 1 });
    expect(stage.simulator.meter.total).toBe(6);
    expect(await bench.map(...fitting, '--retry-errors')).toMatchObject({ code: 0 });
    expect(stage.simulator.meter.total).toBe(7);
    expect((await bench.lines('out.jsonl')).map(({ text }) => text)).toEqual(['a', 'b', 'b', 'c']);
    // What fits is what the ledger has from now on.
    expect(await bench.map(...fitting, '--restart')).toMatchObject({ code: 0 });
    expect(stage.simulator.meter.total).toBe(7);
  });
});
