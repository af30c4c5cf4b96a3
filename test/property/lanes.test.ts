import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FlexTier } from '../../src/simulator/index.ts';
import fc from '../support/fast-check.ts';
import { play } from './play.ts';
import { type LanePlan, maybe, type Program, programs } from './program.ts';
import { patience, seeds, settings } from './settings.ts';
import { openTheatreStage, type TheatreStage } from './theatre-stage.ts';
import { verdictOnLanes } from './verdict.ts';
import { warmUp } from './warm-up.ts';

let stage: TheatreStage;

beforeAll(async () => {
  stage = await openTheatreStage();
  const plans: LanePlan[] = [{ lane: 'flex' }, { canary: 'call', primeCache: true }, { budget: 1 }];
  await warmUp(stage, [{ minBatch: 1 }, { minBatch: 2 }, ...plans]);
});
afterAll(() => stage.close());

const lanePlan = fc
  .record({
    lane: maybe(['flex', 'realtime'] as const),
    canary: fc.constantFrom(false, 'call', 'batch'),
    primeCache: maybe([true]),
    onSmallBatch: maybe(['flex'] as const),
    deadline: maybe(['30s', '10m', '2h'] as const),
    onDeadline: fc.constantFrom('error', 'realtime', 'flex'),
    onSlow: maybe(['flex', 'realtime'] as const),
    budget: maybe([0.0001, 100]),
    realtimeConcurrency: fc.constantFrom(1, 8),
  })
  .map((plan) => Object.fromEntries(Object.entries(plan).filter(([, value]) => value)) as LanePlan);

const tier = fc.constantFrom<FlexTier>(
  {},
  { full: { first: 12 } },
  { full: { share: 0.4 }, retryAfterSeconds: 30 },
  { refusedModels: ['gpt-1'] },
  { forbidden: true },
  { delay: 3 },
);

const programsWithLanes = fc
  .tuple(programs, fc.array(lanePlan, { minLength: 3, maxLength: 3 }), tier)
  .map(([{ scopes, steps, ...rest }, plans, openai]): Program => {
    const configure = { do: 'configure', change: { flex: { openai } } } as const;
    const laned = scopes.map((plan, at) => ({ ...plan, ...plans[at] }));
    return { ...rest, scopes: laned, steps: [configure, ...steps] };
  });

async function comesToItsEnd(program: Program): Promise<void> {
  const theatre = await play(stage, program);
  expect(verdictOnLanes(theatre, stage.simulator)).toEqual([]);
}

it.each(seeds)(
  'every call of any program ends in time with its own answer, whatever lanes, canaries and deadlines it has (seed %i)',
  (seed) => fc.assert(fc.asyncProperty(programsWithLanes, comesToItsEnd), settings(seed, 20)),
  patience,
);
