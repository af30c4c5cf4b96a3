import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { seeded } from '../support/seeded.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { type Program, programs } from './program.ts';
import { settings } from './settings.ts';
import { Theatre } from './theatre.ts';
import { verdict } from './verdict.ts';
import { warmUp } from './warm-up.ts';

let stage: Stage;
const random = Math.random;

beforeAll(async () => {
  stage = await openStage();
  await warmUp(stage);
});
afterAll(async () => {
  Math.random = random;
  await stage.close();
});

async function play(program: Program): Promise<void> {
  const { simulator } = stage;
  simulator.reset();
  simulator.configure({ speed: { validating: 0, running: 0, finalizing: 0, cancelling: 0 } });
  // Jitter is chance, too: a program that failed must fail again.
  Math.random = seeded(program.chance).next;
  const theatre = new Theatre(stage, program);
  await theatre.play();
  expect(verdict(theatre, simulator)).toEqual([]);
}

it(
  'every call of any program ends once, with its own answer or a reason, and is paid for once',
  () => fc.assert(fc.asyncProperty(programs, play), settings()),
  settings().patience,
);
