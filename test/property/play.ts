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
  const { random } = Math;
  // Jitter is chance, too: a program that failed must fail again.
  Math.random = seeded(program.chance).next;
  try {
    await theatre.play();
  } finally {
    Math.random = random;
  }
  return theatre;
}
