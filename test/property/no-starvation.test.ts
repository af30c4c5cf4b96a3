import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FaultAction } from '../../src/simulator/index.ts';
import fc from '../support/fast-check.ts';
import { places } from './places.ts';
import { withChance } from './play.ts';
import type { Provider, Step } from './program.ts';
import { patience, seeds, settings } from './settings.ts';
import { Theatre } from './theatre.ts';
import { openTheatreStage, type TheatreStage } from './theatre-stage.ts';
import { warmUp } from './warm-up.ts';

let stage: TheatreStage;

beforeAll(async () => {
  stage = await openTheatreStage();
  await warmUp(stage);
});
afterAll(() => stage.close());

/** The clock stops at each timer of the broken queue, too. */
const mostSteps = 150;
const mostMinutes = 10;

const actions: FaultAction[] = [
  { kind: 'status', status: 500 },
  { kind: 'status', status: 429, headers: { 'retry-after': '1' } },
  { kind: 'reset' },
  { kind: 'lost' },
  { kind: 'garbage' },
  { kind: 'truncate' },
];

/** A provider at which something never works, or a model whose batches never end. */
const troubles = fc.oneof(
  fc.record({
    kind: fc.constant('broken' as const),
    place: fc.constantFrom(...places.filter(({ wire }) => wire)),
    action: fc.constantFrom(...actions),
  }),
  fc.record({
    kind: fc.constant('stuck' as const),
    provider: fc.constantFrom<Provider>('openai', 'anthropic'),
    stuckIn: fc.constantFrom('validating' as const, 'in_progress' as const, 'finalizing' as const),
  }),
);

const scenes = fc.record({
  trouble: troubles,
  broken: fc.integer({ min: 1, max: 6 }),
  healthy: fc.integer({ min: 1, max: 4 }),
  batchSize: fc.constantFrom(1, 3, 10),
});
const isServedByChance = (scene: Scene) => withChance(1, () => isServed(scene));
type Scene = typeof scenes extends fc.Arbitrary<infer T> ? T : never;

async function isServed({ trouble, broken, healthy, batchSize }: Scene): Promise<void> {
  stage.simulator.reset();
  stage.simulator.configure({
    speed: { validating: 0, running: 0, finalizing: 0, cancelling: 0 },
  });
  const provider = trouble.kind === 'broken' ? trouble.place.provider : trouble.provider;
  const other = provider === 'openai' ? 'anthropic' : 'openai';
  const theatre = new Theatre(stage, { scopes: [{ batchSize }], steps: [], chance: 1 });
  const ask = (of: Provider, model: number, copies: number): Step => {
    const name = `${of === 'openai' ? 'gpt' : 'claude'}-${model}`;
    return { do: 'ask', scope: 0, copies, provider: of, model: name, prompt: `to ${name}` };
  };
  if (trouble.kind === 'broken') {
    const { place, action } = trouble;
    await theatre.perform({ do: 'fault', place, action, times: 1_000_000, skip: 0 });
  } else {
    for (let batch = 0; batch < broken / batchSize; batch += 1) {
      await theatre.perform({ do: 'script', script: { stuckIn: trouble.stuckIn } });
    }
  }
  await theatre.perform(ask(provider, 0, broken));
  await theatre.perform({ do: 'advance', seconds: 10 });
  stage.simulator.faults.nextBatch({});
  const before = theatre.calls.length;
  const askedAt = theatre.clock.now();
  await theatre.perform(ask(trouble.kind === 'broken' ? other : provider, 1, healthy));
  const served = () => theatre.calls.slice(before).every(({ ending }) => ending);
  await theatre.stepUntil(served, mostSteps);
  const statuses = theatre.calls
    .slice(before)
    .map(({ ending }) => (ending?.kind === 'response' ? ending.status : 'waits'));
  const minutes = (theatre.clock.now() - askedAt) / 60_000;
  await theatre.leave();
  expect(statuses).toEqual(statuses.map(() => 200));
  expect(minutes).toBeLessThan(mostMinutes);
}

it.each(seeds)(
  'a healthy queue beside a broken one is served within a bounded number of clock steps (seed %i)',
  (seed) => fc.assert(fc.asyncProperty(scenes, isServedByChance), settings(seed, 25)),
  patience,
);
