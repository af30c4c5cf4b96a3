import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type MapLinesOptions, type MappedLine, mapLines } from '../../src/index.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { jsonLines, mapBench, openaiLine } from './map-bench.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ answer: ({ prompt }) => `<${prompt}>` });
  process.env.OPENAI_API_KEY = 'sk-test';
  process.env.ANTHROPIC_API_KEY = 'sk-ant-test';
});
afterAll(async () => {
  delete process.env.OPENAI_API_KEY;
  delete process.env.ANTHROPIC_API_KEY;
  await stage.close();
});
beforeEach(() => stage.simulator.reset());

const numbers = Array.from({ length: 30 }, (_, index) => index);

async function all(lines: readonly object[], options: MapLinesOptions): Promise<MappedLine[]> {
  const found: MappedLine[] = [];
  for await (const line of mapLines(lines, options)) found.push(line);
  return found;
}

const sizes = () => stage.simulator.batches().map(({ total }) => total);

it('a canary that is a batch lets the other lines follow', async () => {
  const lines = numbers.map((number) => JSON.parse(openaiLine(`c${number}`, `q${number}`)));
  const options = { ...stage.options({ batchSize: 20 }), canary: 'batch' } as const;
  const found = await all(lines, options);
  expect(found.map(({ id }) => id)).toEqual(numbers.map((number) => `c${number}`));
  expect(found.every((line) => 'answer' in line)).toBe(true);
  expect(sizes()[0]).toBe(1);
  expect(stage.simulator.meter.summary()).toMatchObject({
    total: 30,
    realtime: 0,
    executedTwice: [],
  });
});

it('a job with such a canary detaches once the other lines are sent, too', async () => {
  const input = jsonLines(numbers.map((number) => JSON.parse(openaiLine(`c${number}`, 'same'))));
  const bench = await mapBench(stage, { 'in.jsonl': input });
  const given = ['in.jsonl', '-o', 'out.jsonl', '--canary=batch'];
  stage.simulator.hold();
  const run = await bench.start(...given, '--detach');
  await expect.poll(sizes).toEqual([1]);
  stage.simulator.release();
  await expect.poll(sizes).toEqual([1, 29]);
  expect([0, 75]).toContain((await run.ended).code);
  expect(await bench.map(...given)).toMatchObject({ code: 0 });
  expect((await bench.lines('out.jsonl')).map(({ custom_id: id }) => id)).toEqual(
    numbers.map((number) => `c${number}`),
  );
  expect(stage.simulator.meter.total).toBe(30);
});

it('a line that writes the prompt cache of others lets them follow', async () => {
  const model = 'claude-opus-4-6';
  const prices = { [model]: { input: 5, output: 25, cacheRead: 0.5, cacheWrite1h: 10 } };
  const text = 'The manual of the pump. '.padEnd(80_000, 'Turn it on, wait, turn it off. ');
  const cached = { type: 'text', text, cache_control: { type: 'ephemeral', ttl: '1h' } };
  const lines = numbers.map((number) => ({
    custom_id: `c${number}`,
    params: {
      model,
      max_tokens: 16,
      system: [cached],
      messages: [{ role: 'user', content: `What is on page ${number}?` }],
    },
  }));
  const options = stage.options({ canary: false, primeCache: true });
  const providers = { anthropic: { prices } };
  const found = await all(lines, { ...options, providers });
  expect(found.map(({ id }) => id)).toEqual(numbers.map((number) => `c${number}`));
  expect(found.every((line) => 'answer' in line)).toBe(true);
  expect(sizes()).toEqual([1, 29]);
});
