import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import type { AnswerFunction } from '../../../src/simulator/index.ts';
import { startExample } from '../../support/processes/run-example.ts';
import { reservePort } from '../../support/servers/reserved-port.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;
let store: string;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => {
  stage.simulator.reset();
  store = stage.newStore();
});

function script(answer: AnswerFunction): void {
  stage.simulator.configure({ answer });
}

/** Each request executed exactly once: as many executions as bodies, and none outside of a batch. */
function expectOnce(count: number): void {
  const { meter } = stage.simulator;
  expect(meter.summary()).toMatchObject({
    total: count,
    batched: count,
    realtime: 0,
    failed: 0,
    executedTwice: [],
  });
  expect(new Set(meter.executions.map(({ body }) => JSON.stringify(body))).size).toBe(count);
}

const numberIn = (text: string) => Number(/\d+/.exec(text)?.[0]);

it('evaluate.ts answers ordinary calls', async () => {
  script(({ prompt }) => `about ${prompt}`);
  const example = startExample(stage, 'evaluate.ts', { store });
  await once(example.process, 'close');
  const cities = ['Lisbon', 'Oslo', 'Quito', 'Seoul'];
  const expected = cities.map((city) => `about One sentence about ${city}.\n`).join('');
  expect({ stdout: example.stdout(), stderr: example.stderr() }).toEqual({
    stdout: expected,
    stderr: '',
  });
  expectOnce(4);
});

it('structured-output.ts reads 3,000 texts', async () => {
  const reviewOf = (text: string) => ({
    product: `the product of review ${numberIn(text)}`,
    sentiment: (['positive', 'neutral', 'negative'] as const)[numberIn(text) % 3],
    stars: (numberIn(text) % 5) + 1,
  });
  script(({ prompt }) => JSON.stringify(reviewOf(prompt)));
  const example = startExample(stage, 'structured-output.ts', { store });
  const lines = await example.lines<{ text: string; review: unknown }>();
  expect(lines).toHaveLength(3_000);
  for (const { text, review } of lines) expect(review).toEqual(reviewOf(text));
  expectOnce(3_000);
});

it('agents.ts lets 40 agents use their tools', async () => {
  const cityIn = (prompt: string) => /City-\d+/.exec(prompt)?.[0] ?? '';
  script(({ prompt, asked, body }) => {
    const city = cityIn(prompt);
    if (asked === 1) return { toolCalls: [{ name: 'weather', arguments: { city, month: 'May' } }] };
    if (asked === 2) return { toolCalls: [{ name: 'trains', arguments: { city } }] };
    const results = (body.input as { output?: unknown }[]).flatMap(({ output }) => output ?? []);
    return `${city}: ${results.join(', ')}`;
  });
  const lines = await startExample(stage, 'agents.ts', { store }).lines<{ city: string }>();
  expect(lines).toHaveLength(40);
  for (const line of lines) {
    const { city } = line;
    const weather = `${city} in May: ${city.length + 10} degrees`;
    const price = `a ticket to ${city}: ${city.length * 10} euros`;
    expect(line).toEqual({ city, steps: 3, text: `${city}: ${weather}, ${price}` });
  }
  expectOnce(120);
});

it('embeddings.ts makes vectors of 5,000 passages', async () => {
  script(({ body }) => ({
    object: 'list',
    model: body.model,
    data: (body.input as string[]).map((passage, index) => {
      return { object: 'embedding', index, embedding: [numberIn(passage), 1] };
    }),
    usage: { prompt_tokens: 1, total_tokens: 1 },
  }));
  const example = startExample(stage, 'embeddings.ts', { store });
  const lines = await example.lines<{ passage: string; vector: number[] }>();
  expect(lines).toHaveLength(5_000);
  for (const { passage, vector } of lines) expect(vector).toEqual([numberIn(passage), 1]);
  expectOnce(250);
});

it('evals.ts writes a line for each question, also for one that fails', async () => {
  script(({ prompt }) => {
    if (prompt.includes('planet')) return { status: 400, body: 'no planets' };
    return prompt.includes('Norway') ? 'It is Oslo.' : 'I do not know.';
  });
  const example = startExample(stage, 'evals.ts', { store });
  const lines = await example.lines<{ id: number; passed: boolean; error?: string }>();
  expect(lines.map(({ id }) => id).toSorted()).toEqual([1, 2, 3, 4, 5, 6]);
  expect(lines.filter(({ passed }) => passed)).toEqual([
    { id: 1, passed: true, answer: 'It is Oslo.' },
  ]);
  expect(lines.find(({ id }) => id === 2)?.error).toContain('no planets');
  expect(example.stderr()).toBe('1 of 6 passed\n');
});

it('embed-folder.ts makes a vector of each file', async () => {
  const lines = await startExample(stage, 'embed-folder.ts', { store }).lines<{ name: string }>();
  expect(lines.map(({ name }) => name).toSorted()).toEqual([
    'magnets.txt',
    'tides.txt',
    'yeast.txt',
  ]);
  for (const line of lines) expect(line).toMatchObject({ vector: expect.any(Array) });
  expectOnce(3);
});

it('race.ts takes the first good answer of two providers', async () => {
  script(({ prompt, provider }) => {
    if (provider === 'openai' && prompt.includes('tides')) return { status: 400 };
    return `${provider}: ${prompt}`;
  });
  const environment = {
    ANTHROPIC_API_KEY: 'sk-ant-example',
    ANTHROPIC_BASE_URL: stage.simulator.baseUrl('anthropic'),
  };
  const example = startExample(stage, 'race.ts', { store, environment });
  const lines = await example.lines<{ question: string; from: string; text: string }>();
  expect(lines).toHaveLength(3);
  for (const { question, from, text } of lines) expect(text).toBe(`${from}: ${question}`);
  expect(lines[0]).toMatchObject({ question: 'How do tides work?', from: 'anthropic' });
});

it('own-server.ts gets all its answers from a server that is killed twice', async () => {
  // The example starts its server again at the same port.
  const { port, release } = await reservePort();
  onTestFinished(release);
  const given = { store, arguments: ['240', String(port)] };
  const [first] = await startExample(stage, 'own-server.ts', given).lines<object>();
  expect(first).toMatchObject({ right: 240, kills: 2, realtime: 240, fromLedger: 0, failed: 0 });
  const [again] = await startExample(stage, 'own-server.ts', given).lines<object>();
  expect(again).toMatchObject({ right: 240, kills: 0, realtime: 0, fromLedger: 240, failed: 0 });
});

it('two-terminals.ts asks once for what both terminals want', async () => {
  script(({ prompt }) => `fr ${numberIn(prompt)}`);
  stage.simulator.hold();
  const one = startExample(stage, 'two-terminals.ts', { store, arguments: ['1', '300'] });
  const other = startExample(stage, 'two-terminals.ts', { store, arguments: ['151', '450'] });
  // Both wait at the same time, for batches that hold all 450 between them.
  const sent = () => stage.simulator.batches().reduce((sum, { requests }) => sum + requests, 0);
  await expect.poll(sent).toBe(450);
  expect([one.process.exitCode, other.process.exitCode]).toEqual([null, null]);
  stage.simulator.release();
  const results = await Promise.all(
    [one, other].map((example) => example.lines<{ number: number; text: string }>()),
  );
  for (const lines of results) {
    expect(lines).toHaveLength(300);
    for (const { number, text } of lines) expect(text).toBe(`fr ${number}`);
  }
  expectOnce(450);
});

it('server.ts answers each request from a scope of its own', async () => {
  script(({ prompt }) => prompt.replace('In five words: ', 'summary of '));
  const server = startExample(stage, 'server.ts', { store, environment: { PORT: '0' } });
  try {
    await expect.poll(() => server.stdout()).toMatch(/^http\S+\n/);
    const url = server.stdout().trim();
    const replies = await Promise.all(
      Array.from({ length: 12 }, async (_, client) => {
        const texts = Array.from({ length: 5 }, (_, index) => `text ${index} of client ${client}`);
        const response = await fetch(url, { method: 'POST', body: JSON.stringify(texts) });
        return { texts, answers: await response.json() };
      }),
    );
    for (const { texts, answers } of replies) {
      expect(answers).toEqual(texts.map((text) => `summary of ${text}`));
    }
    expectOnce(60);
  } finally {
    server.process.kill();
    await once(server.process, 'close');
  }
});

it('impatient.mjs gives up and tries again without paying again', async () => {
  script(({ prompt }) => `about ${prompt}`);
  stage.simulator.hold();
  const example = startExample(stage, 'impatient.mjs', {
    store,
    registered: true,
    environment: { PATIENCE_MS: '2500' },
  });
  // Every question has been given up once before there is an answer.
  await expect.poll(() => example.stderr().match(/try 1 of 5/g)?.length).toBe(20);
  stage.simulator.release();
  const lines = await example.lines<{ question: string; answer: string }>();
  expect(lines).toHaveLength(20);
  for (const { question, answer } of lines) expect(answer).toBe(`about ${question}`);
  expectOnce(20);
  expect(stage.simulator.batches()).toHaveLength(1);
});
