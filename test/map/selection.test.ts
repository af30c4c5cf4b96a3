import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { jsonLines, mapBench, openaiLine } from './map-bench.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const numbers = Array.from({ length: 60 }, (_, index) => index);
const input = numbers.map((number) => `${openaiLine(`c${number}`, `p${number % 20}`)}\n`).join('');

async function idsIn(bench: Awaited<ReturnType<typeof mapBench>>, name: string): Promise<string[]> {
  return (await bench.lines(name)).map(({ custom_id: id }) => String(id));
}

describe('part of the input', () => {
  it('is the first lines, or a few at random, the same ones for the same seed', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': input });
    await bench.map('in.jsonl', '-o', 'first', '--limit', '7');
    expect(await idsIn(bench, 'first')).toEqual(numbers.slice(0, 7).map((number) => `c${number}`));
    for (const [name, seed] of [
      ['a', '1'],
      ['b', '1'],
      ['c', '2'],
    ] as const) {
      expect(
        await bench.map('in.jsonl', '-o', name, '--sample', '5', '--seed', seed),
      ).toMatchObject({ code: 0 });
    }
    const [a, b, c] = [await idsIn(bench, 'a'), await idsIn(bench, 'b'), await idsIn(bench, 'c')];
    expect(a).toHaveLength(5);
    expect(b).toEqual(a);
    expect(c).not.toEqual(a);
  });

  it('is a shard: together they are the whole, identical lines in different shards are samples', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': input });
    const found: string[] = [];
    for (const shard of ['1/3', '2/3', '3/3']) {
      const name = `out-${shard.replace('/', '-of-')}.jsonl`;
      expect(await bench.map('in.jsonl', '-o', name, '--shard', shard)).toMatchObject({ code: 0 });
      found.push(...(await idsIn(bench, name)));
    }
    expect(found.toSorted()).toEqual(numbers.map((number) => `c${number}`).toSorted());
    expect(stage.simulator.meter.total).toBe(60);
  });
});

describe('--unordered', () => {
  it('writes a batch as it comes: one that is late holds up no other', async () => {
    const lines = numbers.map((number) => `${openaiLine(`c${number}`, `line ${number}`)}\n`);
    const bench = await mapBench(stage, { 'in.jsonl': lines.join('') });
    let answerFirst: () => void = () => undefined;
    const late = new Promise<string>((resolve) => {
      answerFirst = () => resolve('late');
    });
    stage.simulator.configure({ answer: ({ prompt }) => (prompt === 'line 0' ? late : 'soon') });
    const flags = ['in.jsonl', '-o', 'out.jsonl', '--batch-size', '20'];
    const run = await bench.start(...flags, '--unordered');
    const written = () => idsIn(bench, 'out.jsonl').catch(() => []);
    await expect.poll(async () => (await written()).length).toBe(40);
    expect(await written()).not.toContain('c0');
    answerFirst();
    expect(await run.ended).toMatchObject({ code: 0 });
    const ids = await idsIn(bench, 'out.jsonl');
    expect(ids.toSorted()).toEqual(numbers.map((number) => `c${number}`).toSorted());
  });
});

describe('before money is spent', () => {
  it('a dry run says what it would cost, and sends and writes nothing', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': input });
    const { code, stderr } = await bench.map(
      'in.jsonl',
      '-o',
      'out.jsonl',
      '--dry-run',
      '--display',
      'plain',
    );
    expect(code).toBe(0);
    expect(stderr).toMatch(/dry run: nothing was sent\. 60 calls/);
    expect(stderr).toMatch(/openai gpt-5-mini: 60 requests, 1 batch, .*\$/);
    expect(stage.simulator.meter.total).toBe(0);
    await expect(bench.read('out.jsonl')).rejects.toThrow('ENOENT');
  });

  it('a missing key is told, with the variable that it belongs in', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': input });
    const refused = await bench.with(
      { environment: { OPENAI_API_KEY: '' } },
      'in.jsonl',
      '-o',
      'out.jsonl',
    );
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('set OPENAI_API_KEY'),
    });
  });

  it('a job whose store has the name of its output is listed by that name', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': jsonLines([{ a: 1 }]) });
    await bench.map(
      'in.jsonl',
      '-o',
      'rated.jsonl',
      '--model',
      'openai/gpt-5-mini',
      '--prompt',
      '{{a}}',
    );
    const { runLedger } = { runLedger: (await import('../support/processes/run-cli.ts')).runCli };
    const { stdout } = await runLedger(['ls', '--json', '--store', bench.store]);
    expect(stdout).toContain('rated.jsonl');
  });
});
