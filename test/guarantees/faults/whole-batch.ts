import { expect } from 'vitest';
import {
  answered,
  answeredAfter,
  anthropicOnly,
  both,
  type FaultCase,
  failed,
  hour,
  openaiOnly,
  requests,
  type Scene,
  status,
  strike,
} from '../fault-case.ts';

const twoOfSix = ['answer', 'bad', 'bad', 'answer', 'answer', 'answer'].map((word) =>
  word === 'bad' ? failed('400 invalid_request_error') : answered,
);
const four = ['one', 'two', 'three', 'four'];
const script =
  (...scripts: Parameters<Scene['simulator']['faults']['nextBatch']>[0][]) =>
  ({ simulator }: Scene) => {
    for (const each of scripts) simulator.faults.nextBatch(each);
  };

/** Batches that end otherwise than by completing. */
export const wholeBatchFaults: readonly FaultCase[] = [
  {
    fault: 'batch failed: one bad line, named by its number',
    providers: openaiOnly,
    prompts: ['one', '[[invalid]]', 'three'],
    arrange: () => undefined,
    fates: [answered, failed('400 invalid_request_error'), answered],
    sentAgain: 3,
  },
  {
    fault: 'batch failed: two bad lines of six, named by their numbers',
    providers: openaiOnly,
    prompts: ['one', 'a [[invalid]]', 'b [[invalid]]', 'four', 'five', 'six'],
    arrange: () => undefined,
    fates: twoOfSix,
    sentAgain: 6,
    check: ({ simulator }) => expect(simulator.batches()).toHaveLength(4),
  },
  {
    fault: 'batch failed: one bad line, named by its number, which is counted from zero',
    providers: openaiOnly,
    prompts: ['one', '[[invalid]]', 'three'],
    settings: { linesFromZero: true },
    arrange: () => undefined,
    fates: [answered, failed('400 invalid_request_error'), answered],
    sentAgain: 3,
  },
  {
    fault: 'batch failed: two bad lines of six, named by their numbers, counted from zero',
    providers: openaiOnly,
    prompts: ['one', 'a [[invalid]]', 'b [[invalid]]', 'four', 'five', 'six'],
    settings: { linesFromZero: true },
    arrange: () => undefined,
    fates: twoOfSix,
    sentAgain: { atMost: 8 },
  },
  {
    fault: 'batch failed: a line is named that is not bad',
    providers: openaiOnly,
    arrange: script({
      outcome: 'failed',
      errors: [{ code: 'invalid_request', message: 'This line is bad.', line: 2 }],
    }),
    fates: answered,
    sentAgain: 3,
  },
  {
    fault: 'create: 400 for one bad request, named by its place',
    providers: anthropicOnly,
    prompts: ['one', '[[invalid]]', 'three'],
    arrange: () => undefined,
    fates: [answered, failed('400 invalid_request_error'), answered],
    sentAgain: 0,
  },
  {
    fault: 'batch failed: unknown model',
    providers: openaiOnly,
    arrange: script({
      outcome: 'failed',
      errors: [{ code: 'model_not_found', message: 'The model does not exist.' }],
    }),
    fates: failed('400 invalid_request_error'),
    sentAgain: 0,
  },
  {
    fault: 'batch failed: an unknown reason without a line',
    providers: openaiOnly,
    arrange: script({ outcome: 'failed', errors: [] }),
    fates: failed('400 invalid_request_error'),
    sentAgain: 0,
  },
  {
    fault: 'batch expired, half of it done',
    providers: both,
    prompts: four,
    arrange: script({ outcome: 'expired' }),
    fates: answered,
    sentAgain: 2,
  },
  {
    fault: 'batch expired with nothing done, twice',
    providers: both,
    arrange: script(
      { outcome: 'expired', completedFraction: 0 },
      { outcome: 'expired', completedFraction: 0 },
    ),
    fates: failed('504 batchling_expired'),
    sentAgain: 3,
  },
  {
    fault: 'batch expired with nothing done, after its line had failed with 500',
    providers: both,
    prompts: ['[[once status 500]]'],
    arrange: script({}, { outcome: 'expired', completedFraction: 0 }),
    fates: answeredAfter(1),
    sentAgain: 2,
  },
  {
    fault: 'batch expired with nothing done, and there are no result files at all',
    providers: both,
    arrange: script({ outcome: 'expired', completedFraction: 0, lateFiles: 1e9 }),
    fates: answered,
    sentAgain: 3,
  },
  {
    fault: 'batch cancelled by somebody else, half of it done',
    providers: both,
    prompts: four,
    arrange: script({ outcome: 'cancelled' }),
    fates: [
      answered,
      answered,
      failed('499 batchling_cancelled'),
      failed('499 batchling_cancelled'),
    ],
    sentAgain: 0,
  },
  {
    fault: 'batch validating for good',
    providers: openaiOnly,
    options: { poll: '10m' },
    arrange: script({ stuckIn: 'validating' }),
    fates: failed('504 batchling_expired'),
    sentAgain: 0,
    check: toldAfterADay,
  },
  {
    fault: 'batch in progress for good',
    providers: both,
    options: { poll: '10m' },
    arrange: script({ stuckIn: 'in_progress' }),
    fates: failed('504 batchling_expired', 0, 1),
    sentAgain: 0,
    check: toldAfterADay,
  },
  {
    fault: 'batch under way at its `deadline`, and the cancel is answered 500 twice',
    providers: both,
    options: { deadline: '1h' },
    arrange(scene) {
      script({ stuckIn: 'validating' })(scene);
      strike('cancel', status(500), { times: 2 })(scene);
    },
    fates: failed('504 batchling_deadline'),
    sentAgain: 0,
    check({ heardAt }) {
      expect(heardAt[0]).toBeGreaterThan(hour);
      expect(heardAt[0]).toBeLessThan(2 * hour);
    },
  },
  {
    fault: 'deletion of the input file: 500',
    providers: openaiOnly,
    arrange: strike('deletion', status(500), { times: 5 }),
    fates: answered,
    sentAgain: 0,
    check({ simulator }) {
      const { method, path } = requests.deletion;
      expect(simulator.countRequests(method, path)).toBeGreaterThan(0);
    },
  },
];

function toldAfterADay({ heardAt }: { heardAt: readonly number[] }): void {
  expect(heardAt[0]).toBeGreaterThan(28 * hour);
  expect(heardAt[0]).toBeLessThan(29 * hour);
}
