import { expect } from 'vitest';
import {
  answered,
  both,
  type FaultCase,
  failed,
  forGood,
  openaiOnly,
  type Scene,
} from '../fault-case.ts';

const nothing = () => undefined;
const script =
  (each: Parameters<Scene['simulator']['faults']['nextBatch']>[0]) =>
  ({ simulator }: Scene) =>
    simulator.faults.nextBatch(each);

/** What services write differently from what they document, or from each other. */
export const wireFaults: readonly FaultCase[] = [
  {
    fault: 'wire: `request_counts` claim that all succeeded',
    providers: both,
    prompts: ['[[status 400]]', 'two', 'three'],
    settings: { wrongRequestCounts: true },
    arrange: nothing,
    fates: [failed('400 invalid_request_error', 1), answered, answered],
    sentAgain: 0,
  },
  {
    fault: 'wire: `request_counts` are null',
    providers: both,
    settings: { nullRequestCounts: true },
    arrange: nothing,
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'wire: `error_file_id` is an empty string',
    providers: openaiOnly,
    settings: { emptyErrorFileId: true },
    arrange: nothing,
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'wire: an error file of zero bytes',
    providers: openaiOnly,
    settings: { zeroByteErrorFile: true },
    arrange: nothing,
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'wire: failed lines in the output file',
    providers: openaiOnly,
    prompts: ['[[status 400]]', 'two', 'three'],
    settings: { failedLinesInOutput: true },
    arrange: nothing,
    fates: [failed('400 invalid_request_error', 1), answered, answered],
    sentAgain: 0,
  },
  {
    fault: 'wire: status words in capitals',
    providers: openaiOnly,
    arrange: script({ unknownStatus: 'IN_PROGRESS', finalStatus: 'COMPLETED' }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'wire: `failed`, and yet an error file with a line for each request',
    providers: openaiOnly,
    prompts: ['a [[status 400]]', 'b [[status 400]]'],
    arrange: script({ finalStatus: 'failed' }),
    fates: failed('400 invalid_request_error', 1),
    sentAgain: 0,
  },
  {
    fault: 'wire: `completed`, and yet a list of errors, as a bare array',
    providers: openaiOnly,
    settings: { bareErrors: true },
    arrange: script({ errors: [{ code: 'invalid_method', message: 'Bad.', line: 1 }] }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'wire: `failed` for one bad line, the errors as a bare array',
    providers: openaiOnly,
    prompts: ['one [[invalid]]', 'two', 'three'],
    settings: { bareErrors: true },
    arrange: nothing,
    fates: [failed('400 invalid_request_error'), answered, answered],
    sentAgain: 3,
  },
  {
    fault: 'wire: an output file that can be seen while the batch runs, with half of its lines',
    providers: openaiOnly,
    prompts: Array.from({ length: 20 }, (_, at) => `question ${at}`),
    settings: { earlyResults: true },
    arrange: nothing,
    fates: answered,
    sentAgain: 0,
    check: ({ simulator }) => expect(simulator.meter.total).toBe(20),
  },
  {
    fault: 'wire: every reply compressed with gzip, though nobody asked for it',
    providers: both,
    arrange({ simulator }) {
      const action = { kind: 'encoded', encoding: 'gzip' } as const;
      simulator.faults.add({ times: forGood, action });
    },
    fates: answered,
    sentAgain: 0,
    check: ({ simulator }) => expect(simulator.batches()).toHaveLength(1),
  },
];
