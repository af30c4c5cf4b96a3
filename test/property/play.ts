import { seeded } from '../support/seeded.ts';
import type { Program } from './program.ts';
import { Theatre } from './theatre.ts';
import type { TheatreStage } from './theatre-stage.ts';

const immediately = { validating: 0, running: 0, finalizing: 0, cancelling: 0 };

/** Plays a program on a fresh simulator and a fresh ledger, to its end. */
export async function play(stage: TheatreStage, program: Program): Promise<Theatre> {
  stage.simulator.reset();
  stage.simulator.configure({ speed: immediately });
  const theatre = new Theatre(stage, program);
  await withChance(program.chance, () => theatre.play());
  return theatre;
}

/** Jitter is chance, too: what failed must fail again. */
export async function withChance(seed: number, work: () => Promise<void>): Promise<void> {
  const { random } = Math;
  Math.random = seeded(seed).next;
  try {
    await work();
  } finally {
    Math.random = random;
  }
}
