import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mountTinyDisk, type TinyDisk, whyNoTinyDisk } from '../crash/parts/tiny-disk.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';
import { mapBench, openaiLine } from './map-bench.ts';

const reason = whyNoTinyDisk();

let stage: Stage;
let disk: TinyDisk;
beforeEach(async () => {
  stage = await openStage({
    answer: ({ prompt }) => (prompt.includes('[[') ? undefined : `<${prompt}>`),
  });
  disk = await mountTinyDisk('8m');
});
afterEach(async () => {
  await disk.close();
  await stage.close();
});

const numbers = Array.from({ length: 30 }, (_, index) => index);
const fails = (number: number) => number % 3 === 2;
const input = numbers
  .map(
    (number) =>
      `${openaiLine(`c${number}`, `${fails(number) ? '[[status 400]] ' : ''}${number}`)}\n`,
  )
  .join('');
const idsOf = (some: readonly number[]) => some.map((number) => `c${number}`);

describe.skipIf(reason)(
  `a disk that is full in the middle of a job${reason ? `: ${reason}` : ''}`,
  () => {
    it.each([
      ['in order', []],
      ['as answers come', ['--unordered']],
    ])('costs no line and doubles none, %s', async (_, flags) => {
      const bench = await mapBench(stage, { 'in.jsonl': input });
      const given = ['in.jsonl', '-o', 'out.jsonl', '--batch-size', '10', '--attempts', '1'];
      // The disk of the failed lines is full, so that how far the job is can still be noted.
      disk.fill();
      await symlink(join(disk.folder, 'errors'), join(bench.folder, 'out.jsonl.errors.jsonl'));
      const full = await bench.map(...given, ...flags);
      expect(full.code).toBe(1);
      expect(full.stderr).toContain('out.jsonl.errors.jsonl cannot be written: ENOSPC');
      disk.free();
      expect(await bench.map(...given, ...flags)).toMatchObject({ code: 1, stderr: '' });
      const answered = (await bench.lines('out.jsonl')).map(({ custom_id: id }) => id);
      const failed = (await bench.lines('out.jsonl.errors.jsonl')).map(({ id }) => id);
      expect(answered.toSorted()).toEqual(idsOf(numbers.filter((one) => !fails(one))).toSorted());
      expect(failed.toSorted()).toEqual(idsOf(numbers.filter(fails)).toSorted());
      expect(stage.simulator.meter.summary()).toMatchObject({ executedTwice: [] });
    });

    it('is told by its folder where it is that of a copy of the input', async () => {
      const rows = numbers.map((number) => `${number},${'x'.repeat(5_000)}\n`).join('');
      const bench = await mapBench(stage, { 'in.csv': `id,text\n${rows}` });
      disk.fill();
      const environment = { TMPDIR: disk.folder };
      const asked = ['--model', 'openai/gpt-5-mini', '--prompt', '{{text}}'];
      const { code, stderr } = await bench.with({ environment }, 'in.csv', ...asked);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringContaining(`The disk of ${disk.folder} is full`),
      });
      expect(stage.simulator.meter.total).toBe(0);
    });

    it('leaves the output as it was where --retry-errors cannot write the new one', async () => {
      const texts = numbers.map(
        (number) => `${fails(number) ? '[[once status 400]] ' : ''}${number}`,
      );
      const lines = texts.map((text, number) => `${openaiLine(`c${number}`, text)}\n`);
      const bench = await mapBench(stage, { 'in.jsonl': lines.join('') });
      const given = ['in.jsonl', '-o', 'out.jsonl', '--attempts', '1'];
      expect(await bench.map(...given)).toMatchObject({ code: 1 });
      const before = await bench.read('out.jsonl');
      disk.fill();
      await symlink(join(disk.folder, 'merged'), join(bench.folder, 'out.jsonl.merged'));
      const full = await bench.map(...given, '--retry-errors');
      expect(full.code).toBe(1);
      expect(full.stderr).toMatch(/^batchling: out\.jsonl\.merged cannot be written: ENOSPC.*\n$/);
      expect(await bench.read('out.jsonl')).toBe(before);
      disk.free();
      expect(await bench.map(...given, '--retry-errors')).toMatchObject({ code: 0, stderr: '' });
      const answered = (await bench.lines('out.jsonl')).map(({ custom_id: id }) => id);
      expect(answered).toEqual(idsOf(numbers));
      expect(stage.simulator.meter.summary()).toMatchObject({ executedTwice: [] });
    });

    it.each([
      ['lines', []],
      ['lines with their bodies', ['--keep', 'all']],
    ])(
      'stops the job if it is that of the ledger, of %s: none of them has failed',
      async (_, keep) => {
        const bench = await mapBench(stage, { 'in.jsonl': input });
        const store = ['--store', join(disk.folder, 'ledger.db')];
        const limits = ['--batch-size', '10', '--max-in-flight', '1', '--attempts', '1'];
        const given = ['in.jsonl', '-o', 'out.jsonl', ...limits, ...store, ...keep];
        stage.simulator.hold();
        const run = await bench.start(...given);
        await until(() => stage.simulator.batches().length === 1, 'its first batch');
        disk.fill();
        stage.simulator.release();
        const { code, stderr } = await run.ended;
        expect({ code, stderr }).toEqual({
          code: 1,
          stderr: expect.stringContaining('disk is full'),
        });
        disk.free();
        expect(await bench.map(...given)).toMatchObject({ code: 1, stderr: '' });
        const answered = (await bench.lines('out.jsonl')).map(({ custom_id: id }) => id);
        const failed = (await bench.lines('out.jsonl.errors.jsonl')).map(({ id }) => id);
        expect(answered).toEqual(idsOf(numbers.filter((one) => !fails(one))));
        expect(failed).toEqual(idsOf(numbers.filter(fails)));
        expect(stage.simulator.meter.summary()).toMatchObject({ executedTwice: [] });
      },
    );
  },
);
