import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { mapBench, openaiLine } from './map-bench.ts';

const megabyte = 1024 * 1024;

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ answer: () => 'read' });
});
afterAll(() => stage.close());

it('lines that are long go in batches that memory has room for', async () => {
  const text = 'x'.repeat(megabyte);
  const ids = Array.from({ length: 70 }, (_, index) => `c${index}`);
  const lines = ids.map((id) => `${openaiLine(id, `${id} ${text}`)}\n`);
  const bench = await mapBench(stage, { 'in.jsonl': lines.join('') });
  const given = ['in.jsonl', '-o', 'out.jsonl'];
  const dry = await bench.map(...given, '--dry-run', '--display', 'plain');
  expect(await bench.map(...given)).toMatchObject({ code: 0 });
  expect((await bench.lines('out.jsonl')).map(({ custom_id: id }) => id)).toEqual(ids);
  const batches = stage.simulator.batches();
  expect(Math.max(...batches.map(({ total }) => total))).toBeLessThanOrEqual(32);
  expect(dry.stderr).toContain(`70 requests, ${batches.length} batches`);
  expect(stage.simulator.meter.summary()).toMatchObject({ total: 70, executedTwice: [] });
});

it('a line that no provider would take is told before memory is full of it', async () => {
  const bench = await mapBench(stage, { 'in.jsonl': `${openaiLine('a', 'short')}\n` });
  await truncate(join(bench.folder, 'in.jsonl'), 400 * megabyte);
  const { code, stderr } = await bench.map('in.jsonl', '-o', 'out.jsonl');
  expect(code).toBe(2);
  expect(stderr).toContain('in.jsonl has a line of more than 256 MB, from byte ');
});
