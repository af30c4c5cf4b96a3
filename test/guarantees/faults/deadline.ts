import { expect } from 'vitest';
import {
  both,
  type FaultCase,
  failed,
  forGood,
  hour,
  minute,
  type Played,
  status,
  strike,
} from '../fault-case.ts';

const deadline = minute;
const options = { deadline, onDeadline: 'error' } as const;

/** Nothing has run when the deadline is there. */
const settings = {
  speed: { validating: hour, running: minute, finalizing: minute, cancelling: minute },
};

/** The moment we start to cancel is the user's; when cancelling ends is the provider's. */
export const deadlineFaults: readonly FaultCase[] = [
  {
    fault: 'deadline of a minute: the batch never leaves the state of being cancelled',
    providers: both,
    options,
    settings,
    arrange: ({ simulator }) => simulator.faults.nextBatch({ stuckIn: 'cancelling' }),
    fates: failed('504 batchling_deadline'),
    sentAgain: 0,
    check: toldInTime,
  },
  {
    fault: 'deadline of a minute: the batch is stuck, and its cancel fails for good',
    providers: both,
    options,
    arrange(scene) {
      scene.simulator.faults.nextBatch({ stuckIn: 'validating' });
      strike('cancel', status(500), { times: forGood })(scene);
    },
    fates: failed('504 batchling_deadline'),
    sentAgain: 0,
    check: toldInTime,
  },
  {
    fault: 'deadline of a minute: polls end with 500 for good',
    providers: both,
    options,
    settings,
    arrange: strike('poll', status(500), { times: forGood }),
    fates: failed('504 batchling_deadline'),
    sentAgain: 0,
    check: toldInTime,
  },
];

function toldInTime({ heardAt }: Played): void {
  for (const heard of heardAt) {
    expect(heard).toBeGreaterThan(deadline);
    expect(heard).toBeLessThan(deadline + 11 * minute);
  }
}
