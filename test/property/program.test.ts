import { afterAll, beforeAll, expect, it } from 'vitest';
import fc from '../support/fast-check.ts';
import { play } from './play.ts';
import { type Program, programs } from './program.ts';
import { patience, seeds, settings } from './settings.ts';
import { openTheatreStage, type TheatreStage } from './theatre-stage.ts';
import { verdict } from './verdict.ts';
import { warmUp } from './warm-up.ts';

let stage: TheatreStage;

beforeAll(async () => {
  stage = await openTheatreStage();
  await warmUp(stage);
});
afterAll(() => stage.close());

async function keepsItsPromises(program: Program): Promise<void> {
  const theatre = await play(stage, program);
  expect(verdict(theatre, stage.simulator)).toEqual([]);
}

/** Many programs at once are for `BATCHLING_PROPERTY_RUNS`. */
const programsOf = (seed: number) => (seed === 1 ? 50 : 25);

it.each(seeds)(
  'every call of any program ends once, with its own answer or a reason, and is paid for once (seed %i)',
  (seed) =>
    fc.assert(fc.asyncProperty(programs, keepsItsPromises), settings(seed, programsOf(seed))),
  patience,
);
