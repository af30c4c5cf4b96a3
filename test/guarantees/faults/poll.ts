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

/** While a batch is under way; nothing of it may be sent again in haste. */
export const pollFaults: readonly FaultCase[] = [
  {
    fault: 'poll: 500, twenty times',
    providers: both,
    arrange: strike('poll', status(500), { times: 20 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'poll: 429 with `Retry-After: 600`',
    providers: both,
    arrange: strike('poll', status(429, { headers: { 'retry-after': '600' } })),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'poll: connection reset, twenty times',
    providers: both,
    arrange: strike('poll', { kind: 'reset' }, { times: 20 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'poll: HTML pages and half answers with status 200',
    providers: both,
    arrange(scene) {
      strike('poll', { kind: 'garbage' }, { times: 5 })(scene);
      strike('poll', { kind: 'truncate' }, { times: 5 })(scene);
      strike('poll', status(200, { body: {} }), { times: 5 })(scene);
    },
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'poll: 404 for a while',
    providers: both,
    arrange: strike('poll', status(404), { times: 20 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'poll: 404 for good, because the provider has forgotten the batch',
    providers: both,
    arrange: ({ simulator }) => simulator.faults.nextBatch({ forgotten: true }),
    fates: answered,
    sentAgain: 3,
    check: ({ heardAt }) => expect(heardAt[0]).toBeGreaterThan(30 * minute),
  },
  {
    fault: 'poll: 404 for good, although the batch runs',
    providers: both,
    arrange: firstBatchOnly(status(404)),
    fates: billedTimes(2),
    sentAgain: 3,
  },
  {
    fault: 'poll: 401 for a while',
    providers: both,
    arrange: strike('poll', status(401), { times: 5 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'poll: 401 for good (key withdrawn)',
    providers: openaiOnly,
    arrange: strike('poll', status(401), { times: forGood }),
    fates: failed('401 invalid_request_error', 0, 1),
    sentAgain: 0,
    check: toldAfterTenMinutes,
  },
  {
    fault: 'poll: 401 for good (key withdrawn)',
    providers: anthropicOnly,
    arrange: strike('poll', status(401), { times: forGood }),
    fates: failed('401 authentication_error', 0, 1),
    sentAgain: 0,
    check: toldAfterTenMinutes,
  },
  {
    fault: 'poll: 500 for 35 minutes, then 404 once',
    providers: both,
    arrange: outageThenOnce('poll', { action: status(500), ms: 35 * minute }, status(404)),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'poll: connection reset for 35 minutes, then 404 once',
    providers: both,
    arrange: outageThenOnce('poll', { action: { kind: 'reset' }, ms: 35 * minute }, status(404)),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'poll: 500 for 15 minutes, then 401 once',
    providers: both,
    arrange: outageThenOnce('poll', { action: status(500), ms: 15 * minute }, status(401)),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'poll: 500 for good',
    providers: both,
    options: { poll: '10m' },
    arrange: strike('poll', status(500), { times: forGood }),
    fates: failed('504 batchling_expired', 0, 1),
    sentAgain: 0,
    check: ({ heardAt }) => expect(heardAt[0]).toBeLessThan(30 * hour),
  },
  {
    fault: 'poll: 500 for one batch of two, for hours',
    providers: both,
    // It shows several batches in one answer.
    notFor: ['groq'],
    prompts: ['one', 'two'],
    options: { batchSize: 1 },
    arrange: firstBatchOnly(status(500), 200),
    fates: answered,
    sentAgain: 0,
    check({ heardAt }) {
      const [quick = 0, slow = 0] = [...heardAt].sort((a, b) => a - b);
      expect(quick).toBeLessThan(15 * minute);
      expect(slow).toBeGreaterThan(hour);
    },
  },
  {
    fault: 'poll: a status word nobody knows',
    providers: both,
    arrange: ({ simulator }) => simulator.faults.nextBatch({ unknownStatus: 'pondering' }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'poll: five batches among 320 of strangers, which fill the pages of the list',
    providers: both,
    prompts: ['one', 'two', 'three', 'four', 'five'],
    options: { batchSize: 1 },
    arrange({ scope, simulator, provider }) {
      const off = scope.on('batch:submitted', () => {
        off();
        for (let at = 0; at < 320; at += 1) simulator.addForeignBatch({ provider, size: 1 });
      });
    },
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'poll: five batches that show up in lists only after an hour',
    providers: both,
    prompts: ['one', 'two', 'three', 'four', 'five'],
    options: { batchSize: 1 },
    settings: { listLag: hour },
    arrange: () => undefined,
    fates: answered,
    sentAgain: 0,
    check: ({ heardAt }) => expect(heardAt[0]).toBeLessThan(15 * minute),
  },
];

function toldAfterTenMinutes({ heardAt }: { heardAt: readonly number[] }): void {
  expect(heardAt[0]).toBeGreaterThan(10 * minute);
  expect(heardAt[0]).toBeLessThan(15 * minute);
}

/** Strikes the polls of the batch that is accepted first, and of no other. */
function firstBatchOnly(action: ReturnType<typeof status>, times = forGood) {
  return ({ scope, simulator }: Scene) => {
    const off = scope.on('batch:submitted', ({ remoteId }) => {
      off();
      const id = remoteId?.split('/').at(-1);
      const path = new RegExp(
        `/(batches|batch/jobs|batchPredictionJobs|batchInferenceJobs|model-invocation-job)/${id}$`,
      );
      simulator.faults.add({ ...requests.poll, path, times, action });
    });
  };
}
