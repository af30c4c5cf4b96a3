import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { places } from './places.ts';
import { play } from './play.ts';
import type { Program, ScopePlan, Step } from './program.ts';
import { openTheatreStage, type TheatreStage } from './theatre-stage.ts';
import { verdict } from './verdict.ts';
import { warmUp } from './warm-up.ts';

let stage: TheatreStage;

beforeAll(async () => {
  stage = await openTheatreStage();
  await warmUp(stage);
});
afterAll(() => stage.close());

const programOf = (scopes: readonly ScopePlan[], steps: readonly Step[]): Program => ({
  scopes,
  steps,
  chance: 1,
});
const askClaude = (prompt: string, copies = 1, scope = 0): Step => ({
  ...{ do: 'ask', scope, copies, provider: 'anthropic', model: 'claude-0', prompt },
});
const askGpt = (copies = 1, scope = 0): Step => ({
  ...{ do: 'ask', scope, copies, provider: 'openai', model: 'gpt-0', prompt: 'question 0' },
});
const advance = (seconds: number): Step => ({ do: 'advance', seconds });
const fault = (provider: string, name: string, action: object, times = 1): Step => {
  const place = places.find((one) => one.provider === provider && one.name === name);
  return { do: 'fault', place, times, skip: 0, action } as Step;
};

/** Programs that random ones were shrunk to. */
const found: [string, Program][] = [
  [
    'a create without an answer is found again although its results hold a line of nobody',
    programOf(
      [{}],
      [
        fault('anthropic', 'create', { kind: 'status', status: 504, accept: true }),
        askClaude('question 0[[foreign]]', 3),
      ],
    ),
  ],
  [
    'a scope whose calls were cancelled closes, although a batch still waits for room',
    programOf(
      [{ batchSize: 1, maxInFlight: 1 }],
      [{ do: 'hold' }, askGpt(2), { do: 'cancel', scope: 0 }],
    ),
  ],
  [
    'a scope that its signal ended lets its engine close, although a batch still waits for room',
    programOf(
      [{ batchSize: 1, maxInFlight: 1 }],
      [{ do: 'hold' }, askGpt(2), { do: 'signal', scope: 0 }],
    ),
  ],
  [
    'a deadline ends what waits for room',
    programOf(
      [{ maxInFlight: 1 }, { maxInFlight: 1, deadline: '10m' }],
      [
        { do: 'script', script: { stuckIn: 'in_progress' } },
        askGpt(),
        advance(6),
        askGpt(1, 1),
        advance(700),
      ],
    ),
  ],
  [
    'a cancel at the deadline is tried again when it fails',
    programOf(
      [{ deadline: '10m' }],
      [
        { do: 'script', script: { stuckIn: 'in_progress' } },
        fault('openai', 'cancel', { kind: 'status', status: 500 }),
        askGpt(),
        advance(700),
      ],
    ),
  ],
  [
    'a queue that scopes share holds to the minBatch of each',
    programOf([{ minBatch: 3 }, {}], [askGpt(), askGpt(1, 1), advance(40)]),
  ],
  [
    'results that could not be had at first are not taken for unreadable by one bad page',
    programOf(
      [{}],
      [
        fault('openai', 'results', { kind: 'status', status: 503 }, 3),
        fault('openai', 'results', { kind: 'garbage' }),
        askGpt(),
      ],
    ),
  ],
  [
    'a deadline counts in a batch that is shared with a scope that has none',
    programOf(
      [{}, { deadline: '30s' }],
      [
        { do: 'script', script: { stuckIn: 'in_progress' } },
        askGpt(),
        askGpt(1, 1),
        advance(6),
        advance(700),
      ],
    ),
  ],
];

describe('found by random programs', () => {
  it.each(found)('%s', async (_, program) => {
    const theatre = await play(stage, program);
    expect(verdict(theatre, stage.simulator)).toEqual([]);
  });

  it('a scope that allows no ordinary calls makes none, whatever another scope has done', async () => {
    const steps = [askGpt(), advance(10), askGpt(1, 1), advance(10)];
    const theatre = await play(stage, programOf([{ minBatch: 2 }, {}], steps));
    const sources = theatre.calls.map(({ ending }) => ending?.kind === 'response' && ending.source);
    expect(sources).toEqual(['realtime', 'batch']);
  });

  it('a deadline of one scope is no error of another that has none', async () => {
    const steps = [askGpt(), advance(10), askGpt(1, 1), advance(10)];
    const patient = { deadline: '4s' } as const;
    const theatre = await play(stage, programOf([patient, {}], steps));
    const statuses = theatre.calls.map(
      ({ ending }) => ending?.kind === 'response' && ending.status,
    );
    expect(statuses).toEqual([504, 200]);
  });

  it('a deadline counts while a create without an answer is looked for', async () => {
    const lost = fault('anthropic', 'create', { kind: 'lost' });
    const steps: Step[] = [lost, { do: 'hold' }, askClaude('question 0'), advance(1_500)];
    const { calls } = await play(stage, programOf([{ deadline: '30s' }], steps));
    const [call] = calls;
    expect(call && (call.endedAt - call.askedAt) / 1_000).toBeLessThan(1_000);
  });

  it('an error that a client is given again is counted as an answer', async () => {
    const failing = askClaude('question 0[[status 500]]');
    const steps = [failing, advance(70), failing, advance(10)];
    const { calls } = await play(stage, programOf([{ attempts: 1 }], steps));
    expect(calls.map(({ ending }) => ending?.kind === 'response' && ending.status)).toEqual([
      500, 500,
    ]);
    expect(calls[0]?.scope.context.stats).toMatchObject({ captured: 2, answered: 2, failed: 2 });
  });

  it('many batches that wait for their next try do not make Node warn of a leak', async () => {
    const warnings: string[] = [];
    const listen = (warning: Error) => warnings.push(warning.message);
    process.on('warning', listen);
    const refused = fault('openai', 'upload', { kind: 'status', status: 500 }, 24);
    await play(stage, programOf([{ batchSize: 1 }], [refused, askGpt(12), advance(40)]));
    process.off('warning', listen);
    expect(warnings).toEqual([]);
  });
});
