import { expect } from 'vitest';
import {
  answered,
  anthropicOnly,
  billedTimes,
  both,
  type FaultCase,
  failed,
  forGood,
  hour,
  minute,
  openaiOnly,
  outageThenOnce,
  requests,
  type Scene,
  status,
  strike,
} from '../fault-case.ts';

const never = 1e9;
const script =
  (each: Parameters<Scene['simulator']['faults']['nextBatch']>[0]) =>
  ({ simulator }: Scene) =>
    simulator.faults.nextBatch(each);

const unknownEncoding = status(200, { headers: { 'content-encoding': 'zstd' }, body: '(µ/ý' });
const brokenEncoding = status(200, { headers: { 'content-encoding': 'gzip' }, body: '{}' });

/** Read at the first try. */
const readOnce: FaultCase['check'] = ({ simulator }) => {
  const { method, path } = requests.results;
  expect(simulator.countRequests(method, path)).toBe(1);
};

/** Reading the results of a batch that has ended: it is paid for, so its answers are waited for. */
export const resultFileFaults: readonly FaultCase[] = [
  {
    fault: 'results: the batch has ended, and only five polls later says where they are',
    providers: both,
    arrange: script({ lateFiles: 5 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'results: five polls late, and `request_counts` are null',
    providers: both,
    settings: { nullRequestCounts: true },
    arrange: script({ lateFiles: 5 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'results: five polls late, `request_counts` null, and the batch has expired, half done',
    providers: both,
    prompts: ['one', 'two', 'three', 'four'],
    settings: { nullRequestCounts: true },
    arrange: script({ outcome: 'expired', lateFiles: 5 }),
    fates: answered,
    sentAgain: 2,
  },
  {
    fault: 'results: the batch has ended and never says where they are',
    providers: both,
    arrange: script({ lateFiles: never }),
    fates: billedTimes(2),
    sentAgain: 3,
    check: ({ heardAt }) => expect(heardAt[0]).toBeGreaterThan(30 * minute),
  },
  {
    fault: 'results: 404 at first',
    providers: both,
    settings: { resultsNotFoundReads: 5 },
    arrange: () => undefined,
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'results: 404 for good, of one batch',
    providers: both,
    arrange: script({ resultsNotFoundReads: never }),
    fates: billedTimes(2),
    sentAgain: 3,
    check: ({ heardAt }) => expect(heardAt[0]).toBeGreaterThan(30 * minute),
  },
  {
    fault: 'results: 404 for good, of every batch',
    providers: both,
    settings: { resultsNotFoundReads: never },
    arrange: () => undefined,
    fates: failed('502 batchling_missing', 0, 3),
    sentAgain: 6,
  },
  {
    fault: 'results: 500, twenty times',
    providers: both,
    arrange: strike('results', status(500), { times: 20 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'results: 500 for three hours',
    providers: both,
    arrange: strike('results', status(500), { times: 250 }),
    fates: answered,
    sentAgain: 0,
    check: ({ heardAt }) => expect(heardAt[0]).toBeGreaterThan(3 * hour),
  },
  {
    fault: 'results: 500 for 35 minutes, then 404 once',
    providers: both,
    arrange: outageThenOnce('results', { action: status(500), ms: 35 * minute }, status(404)),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'results: 500 for 15 minutes, then 401 once',
    providers: both,
    arrange: outageThenOnce('results', { action: status(500), ms: 15 * minute }, status(401)),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'results: connection reset, twenty times',
    providers: both,
    arrange: strike('results', { kind: 'reset' }, { times: 20 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'results: the download breaks off, five times',
    providers: both,
    prompts: Array.from({ length: 20 }, (_, at) => `question ${at}`),
    arrange: strike('results', { kind: 'truncate' }, { times: 5 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'results: an HTML page with status 200, ten times',
    providers: both,
    arrange: strike('results', { kind: 'garbage' }, { times: 10 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'results: an empty body with status 200, ten times',
    providers: both,
    arrange: strike('results', status(200, { body: '' }), { times: 10 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'results: compressed with brotli, though nobody asked for it',
    providers: both,
    arrange: strike('results', { kind: 'encoded', encoding: 'br' }, { times: forGood }),
    fates: answered,
    sentAgain: 0,
    check: readOnce,
  },
  {
    fault: 'results: compressed in a way nobody knows, for three hours',
    providers: both,
    arrange: strike('results', unknownEncoding, { times: 250 }),
    fates: answered,
    sentAgain: 0,
    check: ({ heardAt }) => expect(heardAt[0]).toBeGreaterThan(3 * hour),
  },
  {
    fault: 'results: said to be compressed with gzip, but broken, ten times',
    providers: both,
    arrange: strike('results', brokenEncoding, { times: 10 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'results: 401 for a while',
    providers: both,
    arrange: strike('results', status(401), { times: 5 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'results: 500 for good, and a `deadline` of an hour',
    providers: both,
    options: { deadline: '1h' },
    arrange: strike('results', status(500), { times: forGood }),
    fates: failed('504 batchling_deadline', 0, 1),
    sentAgain: 0,
    check: ({ heardAt }) => expect(heardAt[0]).toBeLessThan(70 * minute),
  },
  {
    fault: 'results: 403 for good',
    providers: openaiOnly,
    arrange: strike('results', status(403), { times: forGood }),
    fates: failed('403 invalid_request_error', 0, 1),
    sentAgain: 0,
    check: toldAfterTenMinutes,
  },
  {
    fault: 'results: 403 for good',
    providers: anthropicOnly,
    arrange: strike('results', status(403), { times: forGood }),
    fates: failed('403 permission_error', 0, 1),
    sentAgain: 0,
    check: toldAfterTenMinutes,
  },
];

/** The batch itself takes a little more than ten. */
function toldAfterTenMinutes({ heardAt }: { heardAt: readonly number[] }): void {
  expect(heardAt[0]).toBeGreaterThan(20 * minute);
  expect(heardAt[0]).toBeLessThan(25 * minute);
}
