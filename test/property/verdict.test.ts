import { afterAll, beforeAll, expect, it } from 'vitest';
import { places } from './places.ts';
import { play } from './play.ts';
import type { Provider, Step } from './program.ts';
import { openTheatreStage, type TheatreStage } from './theatre-stage.ts';
import { verdict } from './verdict.ts';
import { warmUp } from './warm-up.ts';

let stage: TheatreStage;

beforeAll(async () => {
  stage = await openTheatreStage();
  await warmUp(stage);
});
afterAll(() => stage.close());

const notFound: Step[] = places
  .filter(({ name, provider }) => name === 'poll' && provider === 'openai')
  .map((place) => ({
    ...{ do: 'fault', place, times: 3, skip: 0, action: { kind: 'status', status: 404 } },
  }));
const ask = (provider: Provider): Step => ({
  ...{ do: 'ask', scope: 0, copies: 1, provider, model: 'model', prompt: 'question' },
});

it('a batch that could not be found excuses no second payment for another one', async () => {
  const steps: Step[] = [...notFound, ask('openai'), ask('anthropic')];
  const theatre = await play(stage, { scopes: [{}], steps, chance: 1 });
  expect(theatre.faults[0]?.struck.hits).toBeGreaterThan(1);
  expect(verdict(theatre, stage.simulator)).toEqual([]);
  const { executions } = stage.simulator.meter;
  const other = executions.find(({ provider }) => provider === 'anthropic');
  executions.push({ ...other!, n: 1_000_000 });
  expect(verdict(theatre, stage.simulator)).toEqual([
    `billed twice: ${other?.customId}`,
    '2 executions for 1 answers (and 0 given up): anthropic model question',
  ]);
});
