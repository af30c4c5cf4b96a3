import { expect } from 'vitest';
import {
  answered,
  both,
  type FaultCase,
  failed,
  forGood,
  hour,
  minute,
  type Scene,
} from '../fault-case.ts';

/** Every request of whatever kind. */
const everything =
  (times: number, skip = 0) =>
  ({ simulator }: Scene) => {
    simulator.faults.add({ times, skip, action: { kind: 'reset' } });
  };

/** The way to the provider. */
export const networkFaults: readonly FaultCase[] = [
  {
    fault: 'network: every connection reset at the beginning, eight times',
    providers: both,
    arrange: everything(8),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'network: every connection reset, from the beginning and for good',
    providers: both,
    arrange: everything(forGood),
    fates: failed('502 batchling_missing'),
    sentAgain: 0,
    check: ({ heardAt }) => expect(heardAt[0]).toBeLessThan(18 * minute),
  },
  {
    fault: 'network: every connection reset for hours once the batch is accepted',
    providers: both,
    arrange: everything(200, 2),
    fates: answered,
    sentAgain: 0,
    check: ({ heardAt }) => expect(heardAt[0]).toBeGreaterThan(2 * hour),
  },
  {
    fault: 'network: every third connection reset',
    providers: both,
    arrange({ simulator }) {
      for (let at = 0; at < 30; at += 1) {
        simulator.faults.add({ skip: 2, action: { kind: 'reset' } });
      }
    },
    fates: answered,
    sentAgain: 0,
  },
];
