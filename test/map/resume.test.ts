import { appendFile, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { jsonLines, mapBench, openaiLine } from './map-bench.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({
    answer: ({ prompt }) => (prompt.includes('[[') ? undefined : `<${prompt}>`),
  });
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const count = 40;
const input = Array.from(
  { length: count },
  (_, index) => `${openaiLine(`c${index}`, `p${index}`)}\n`,
).join('');
const ids = Array.from({ length: count }, (_, index) => `c${index}`);
const given = ['in.jsonl', '-o', 'out.jsonl', '--batch-size', '10'];

async function idsOf(bench: Awaited<ReturnType<typeof mapBench>>): Promise<unknown[]> {
  return (await bench.lines('out.jsonl')).map((line) => line.custom_id);
}

describe('a job that is killed', () => {
  it('goes on with the same command while its batches run, and pays for nothing twice', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': input });
    stage.simulator.hold();
    const first = await bench.start(...given);
    await expect.poll(() => stage.simulator.batches().length).toBe(4);
    first.process.kill('SIGKILL');
    await first.ended;
    stage.simulator.release();
    expect(await bench.map(...given)).toMatchObject({ code: 0 });
    expect(await idsOf(bench)).toEqual(ids);
    expect(stage.simulator.meter.summary()).toMatchObject({ total: count, executedTwice: [] });
  });

  it('at any moment leaves whole lines or is cut to them; every line comes out once, in order', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': input });
    for (const milliseconds of [300, 500, 700, 900, 1_100]) {
      const run = await bench.start(...given);
      const kill = setTimeout(() => run.process.kill('SIGKILL'), milliseconds);
      const { code } = await run.ended;
      clearTimeout(kill);
      if (code === 0) break;
    }
    expect((await bench.map(...given)).code).toBe(0);
    expect(await idsOf(bench)).toEqual(ids);
    expect(stage.simulator.meter.summary()).toMatchObject({ total: count, executedTwice: [] });
  });
});

describe('a job that is interrupted', () => {
  it('says how it goes on and ends with 130', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': input });
    stage.simulator.hold();
    const run = await bench.start(...given, '--display', 'plain');
    await expect.poll(() => stage.simulator.batches().length).toBe(4);
    run.process.kill('SIGINT');
    const { code, stderr } = await run.ended;
    expect(code).toBe(130);
    expect(stderr).toContain('interrupted: the same command again goes on from here');
    stage.simulator.release();
    expect(await bench.map(...given)).toMatchObject({ code: 0 });
    expect(stage.simulator.meter.total).toBe(count);
  });
});

describe('a job of ordinary calls that is interrupted', () => {
  it('says that those on the wire may be paid twice, and then how many were', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': input });
    stage.simulator.configure({ flex: { openai: { delay: 60_000 } } });
    const flex = ['in.jsonl', '-o', 'out.jsonl', '--lane', 'flex', '--limit', '3'];
    const run = await bench.start(...flex, '--display', 'plain');
    const calls = () => stage.simulator.countRequests('POST', '/v1/chat/completions');
    await expect.poll(calls).toBe(3);
    run.process.kill('SIGINT');
    const { code, stderr } = await run.ended;
    expect(code).toBe(130);
    expect(stderr).toContain('goes on from here, and only calls on the wire may be paid twice');
    stage.simulator.configure({ flex: { openai: { delay: 0 } } });
    const end = await bench.map(...flex, '--display', 'plain');
    expect(end).toMatchObject({ code: 0 });
    expect(end.stderr).toContain('3 calls may have been paid twice');
  });
});

describe('--detach', () => {
  it('ends with 75 when everything is sent; the same command brings the answers', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': input });
    stage.simulator.hold();
    expect(await bench.map(...given, '--detach')).toMatchObject({ code: 75 });
    expect(stage.simulator.batches()).toHaveLength(4);
    stage.simulator.release();
    expect(await bench.map(...given)).toMatchObject({ code: 0 });
    expect(await idsOf(bench)).toEqual(ids);
    expect(stage.simulator.meter.total).toBe(count);
  });

  it.each([
    ['in several batches', given],
    ['in one batch', ['in.jsonl', '-o', 'out.jsonl']],
  ])(
    'brings the answers, too, as a job of cron is always the same command: %s',
    async (_, command) => {
      const bench = await mapBench(stage, { 'in.jsonl': input });
      const detach = () => bench.map(...command, '--detach');
      stage.simulator.hold();
      expect(await detach()).toMatchObject({ code: 75 });
      expect(await detach()).toMatchObject({ code: 75 });
      stage.simulator.release();
      expect(await detach()).toMatchObject({ code: 0 });
      expect(await idsOf(bench)).toEqual(ids);
      expect(await bench.map(...command, '--restart', '--detach')).toMatchObject({ code: 0 });
      expect(await idsOf(bench)).toEqual(ids);
      expect(stage.simulator.meter.total).toBe(count);
    },
  );
});

describe('a ledger in memory', () => {
  const memory = ['--store', ':memory:'];

  it('ends with its process, so nothing can be left to it, and an interruption says so', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': input });
    const detached = await bench.map(...given, ...memory, '--detach');
    expect(detached).toMatchObject({ code: 2, stderr: expect.stringContaining('--store') });
    expect(stage.simulator.meter.total).toBe(0);
    stage.simulator.hold();
    const run = await bench.start(...given, ...memory, '--display', 'plain');
    await expect.poll(() => stage.simulator.batches().length).toBe(4);
    run.process.kill('SIGINT');
    const { code, stderr } = await run.ended;
    expect(code).toBe(130);
    expect(stderr).toContain('pays once more for what was under way');
    stage.simulator.release();
  });
});

it('a job whose reader has gone does not end like one whose lines all have their answers', async () => {
  const long = 'x'.repeat(10_000);
  const lines = ids.map((id) => `${openaiLine(id, `${id} ${long}`)}\n`);
  const bench = await mapBench(stage, { 'in.jsonl': lines.join('') });
  const run = await bench.start('in.jsonl');
  run.process.stdout?.destroy();
  expect(await run.ended).toMatchObject({ code: 1 });
  expect((await bench.map('in.jsonl')).stdout.split('\n')).toHaveLength(count + 1);
  expect(stage.simulator.meter.total).toBe(count);
});

describe('an output of an earlier run', () => {
  it('is left alone when the job was finished', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': input });
    await bench.map(...given);
    const again = await bench.map(...given, '--display', 'plain');
    expect(again).toMatchObject({ code: 0 });
    expect(again.stderr).toContain('nothing to do, this job is finished: 40 lines answered');
  });

  it('is refused when the input, the prompt or the model has changed, with what differs', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': jsonLines([{ a: 1 }]) });
    const rows = ['in.jsonl', '-o', 'out.jsonl', '--model', 'openai/gpt-5-mini'];
    await bench.map(...rows, '--prompt', 'one {{a}}');
    const prompt = await bench.map(...rows, '--prompt', 'two {{a}}');
    expect(prompt).toMatchObject({ code: 2 });
    expect(prompt.stderr).toContain('--prompt was "one {{a}}" and is "two {{a}}"');
    await appendFile(join(bench.folder, 'in.jsonl'), '{"a":2}\n');
    const changed = await bench.map(...rows, '--prompt', 'one {{a}}');
    expect(changed).toMatchObject({ code: 2 });
    expect(changed.stderr).toContain('in.jsonl has changed');
    expect(await bench.map(...rows, '--prompt', 'one {{a}}', '--restart')).toMatchObject({
      code: 0,
    });
    // Only the new line was paid for.
    expect(stage.simulator.meter.total).toBe(2);
    expect(await bench.lines('out.jsonl')).toHaveLength(2);
  });

  it('that is somebody else’s is not written over', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': input, 'out.jsonl': 'precious\n' });
    const refused = await bench.map(...given);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain('was not written by this job');
    expect(await bench.read('out.jsonl')).toBe('precious\n');
  });

  it('that was cut is written again from the ledger; a torn last line is cut', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': input });
    await bench.map(...given);
    const whole = await bench.read('out.jsonl');
    const out = join(bench.folder, 'out.jsonl');
    const state = `${out}.batchling.json`;
    // As a killed process leaves them: progress up to the tenth line, and half a line more in the output.
    const tenLines = whole.split('\n').slice(0, 10).join('\n').length + 1;
    const position = {
      part: 0,
      offset: input.split('\n').slice(0, 10).join('\n').length + 1,
      line: 10,
    };
    const known = JSON.parse(await readFile(state, 'utf8'));
    const progress = { ...known.progress, position, output: tenLines, done: 10 };
    await writeFile(state, JSON.stringify({ ...known, progress, isFinished: false }));
    await truncate(out, tenLines + 30);
    expect(await bench.map(...given)).toMatchObject({ code: 0 });
    expect(await bench.read('out.jsonl')).toBe(whole);
    await truncate(out, 10);
    expect(await bench.map(...given)).toMatchObject({ code: 0 });
    expect(await bench.read('out.jsonl')).toBe(whole);
    expect(stage.simulator.meter.total).toBe(count);
  });
});

describe('lines that fail', () => {
  it('are tried again as often as `attempts` says, and then stand in the errors; exit code 1', async () => {
    const prompts = [
      'fine',
      '[[once status 500]] later',
      '[[status 500]] never',
      '[[status 400]] bad',
      'good',
    ];
    const rows = jsonLines(prompts.map((text) => ({ text })));
    const bench = await mapBench(stage, { 'in.jsonl': rows });
    const flags = [
      'in.jsonl',
      '-o',
      'out.jsonl',
      '--model',
      'openai/gpt-5-mini',
      '--prompt',
      '{{text}}',
    ];
    expect(await bench.map(...flags, '--attempts', '2')).toMatchObject({ code: 1 });
    const done = (await bench.lines('out.jsonl')).map(({ text }) => text);
    expect(done).toEqual(['fine', '[[once status 500]] later', 'good']);
    expect(await bench.lines('out.jsonl.errors.jsonl')).toMatchObject([
      { line: 3, id: '3', status: 500 },
      { line: 4, id: '4', status: 400 },
    ]);
    const failures = stage.simulator.meter.failures.map(({ body }) => JSON.stringify(body));
    expect(failures.filter((body) => body.includes('never'))).toHaveLength(2);
  });

  it('are the only ones that --retry-errors asks, and their answers come to their places', async () => {
    const rows = jsonLines(
      ['a', '[[once status 400]] b', 'c', '[[status 400]] d', 'e'].map((text) => ({ text })),
    );
    const bench = await mapBench(stage, { 'in.jsonl': rows });
    const flags = [
      'in.jsonl',
      '-o',
      'out.jsonl',
      '--model',
      'openai/gpt-5-mini',
      '--prompt',
      '{{text}}',
    ];
    expect(await bench.map(...flags)).toMatchObject({ code: 1 });
    const billed = stage.simulator.meter.total;
    expect(await bench.map(...flags, '--retry-errors')).toMatchObject({ code: 1 });
    expect((await bench.lines('out.jsonl')).map(({ text }) => text)).toEqual([
      'a',
      '[[once status 400]] b',
      'c',
      'e',
    ]);
    expect(await bench.lines('out.jsonl.errors.jsonl')).toMatchObject([{ line: 4, status: 400 }]);
    expect(stage.simulator.meter.total).toBe(billed + 1);
  });
});

describe('a table that is the output', () => {
  const flags = ['in.csv', '-o', 'out.csv', '--model', 'openai/gpt-5-mini', '--prompt', '{{text}}'];

  it('is cut to whole records and goes on from there', async () => {
    const bench = await mapBench(stage, { 'in.csv': 'text\n"a\nb"\nc\n' });
    expect(await bench.map(...flags)).toMatchObject({ code: 0 });
    const whole = await bench.read('out.csv');
    await truncate(join(bench.folder, 'out.csv'), whole.length - 3);
    expect(await bench.map(...flags)).toMatchObject({ code: 0 });
    expect(await bench.read('out.csv')).toBe(whole);
  });

  it('takes the answers of lines that failed into their places, whatever the cells hold', async () => {
    const cells = ['"a\nb"', '[[once status 400]] \u2028 c', '[[status 400]] d', '"e ""f"""'];
    const bench = await mapBench(stage, { 'in.csv': ['text', ...cells, ''].join('\n') });
    expect(await bench.map(...flags)).toMatchObject({ code: 1 });
    expect(await bench.map(...flags, '--retry-errors')).toMatchObject({ code: 1 });
    const header = 'text,answer\n';
    const table = await bench.read('out.csv');
    expect(table.startsWith(header)).toBe(true);
    expect(table.slice(header.length)).toMatch(
      /^"a\nb",[\s\S]*\n\[\[once status 400\]\] \u2028 c,[\s\S]*\n"e ""f""",[\s\S]*\n$/,
    );
    expect(table.split(header)).toHaveLength(2);
    expect(await bench.lines('out.csv.errors.jsonl')).toMatchObject([{ line: 3, status: 400 }]);
  });
});

describe('a batch that ends badly after it was accepted', () => {
  const rows = jsonLines(['a', 'b', 'c', 'd'].map((text) => ({ text })));
  const flags = [
    'in.jsonl',
    '-o',
    'out.jsonl',
    '--model',
    'openai/gpt-5-mini',
    '--prompt',
    '{{text}}',
  ];

  it('is sent again when it only had to wait for room', async () => {
    const errors = [{ code: 'token_limit_exceeded', message: 'Enqueued token limit reached' }];
    stage.simulator.faults.nextBatch({ outcome: 'failed', errors });
    const bench = await mapBench(stage, { 'in.jsonl': rows });
    expect(await bench.map(...flags)).toMatchObject({ code: 0 });
    expect(await bench.lines('out.jsonl')).toHaveLength(4);
    expect(stage.simulator.meter.total).toBe(4);
  });

  it('gives every line the words of the provider when it is refused for good', async () => {
    const errors = [{ code: 'model_not_found', message: 'There is no such model' }];
    for (let at = 0; at < 10; at += 1)
      stage.simulator.faults.nextBatch({ outcome: 'failed', errors });
    const bench = await mapBench(stage, { 'in.jsonl': rows });
    expect(await bench.map(...flags)).toMatchObject({ code: 1 });
    expect(await bench.lines('out.jsonl')).toEqual([]);
    const failed = await bench.lines('out.jsonl.errors.jsonl');
    expect(failed.map(({ line }) => line)).toEqual([1, 2, 3, 4]);
    expect(JSON.stringify(failed)).toContain('There is no such model');
    stage.simulator.faults.clear();
  });

  it('that expired half way is paid for once: only the rest is sent again', async () => {
    stage.simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 0.5 });
    const bench = await mapBench(stage, { 'in.jsonl': rows });
    expect(await bench.map(...flags)).toMatchObject({ code: 0 });
    expect(await bench.lines('out.jsonl')).toHaveLength(4);
    expect(stage.simulator.meter.summary()).toMatchObject({ total: 4, executedTwice: [] });
  });
});
