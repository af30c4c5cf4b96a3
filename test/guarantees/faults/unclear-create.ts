import { expect } from 'vitest';
import type { FaultAction } from '../../../src/simulator/index.ts';
import { wireOf } from '../../support/provider-wires.ts';
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
  requestOf,
  requests,
  second,
  status,
  strike,
} from '../fault-case.ts';

const createsOnce: NonNullable<FaultCase['check']> = ({ simulator }) => {
  const { method, path } = requests.create;
  expect(simulator.countRequests(method, path)).toBe(1);
};

const sentAgain = 'sent again: the create was never accepted';

/** A create of theirs that comes twice makes one batch: it has a key, or an id of our choosing. */
const withoutTwins = ['perplexity', 'fireworks', 'bedrock'] as const;

const aTwinWasCancelled = expect.stringMatching(/^a twin was cancelled/);

const twinIsCancelled: FaultCase['check'] = ({ simulator, resent }) => {
  const { method, path } = requests.cancel;
  expect(simulator.countRequests(method, path)).toBe(1);
  expect(resent).toEqual([sentAgain, aTwinWasCancelled]);
};

/** The answer is lost, and afterwards the list cannot be read. */
const lostWithoutList =
  (action: FaultAction): FaultCase['arrange'] =>
  (scene) => {
    strike('create', { kind: 'lost' })(scene);
    const skip = wireOf(scene.provider).looksFirst ? 1 : 0;
    strike('list', action, { times: forGood, skip })(scene);
  };

/** The batch may run, so nothing is sent again. */
const toldInTime =
  (least: number, most: number): NonNullable<FaultCase['check']> =>
  (played) => {
    createsOnce(played);
    expect(played.heardAt[0]).toBeGreaterThan(least);
    expect(played.heardAt[0]).toBeLessThan(most);
  };

/** A create that may or may not have been accepted is looked for before anything is sent again. */
export const unclearCreateFaults: readonly FaultCase[] = [
  {
    fault: 'create: accepted, but answered 500',
    providers: both,
    arrange: strike('create', status(500, { accept: true })),
    fates: answered,
    sentAgain: 0,
    check: createsOnce,
  },
  {
    fault: 'create: accepted, but the answer is lost',
    providers: both,
    arrange: strike('create', { kind: 'lost' }),
    fates: answered,
    sentAgain: 0,
    check: createsOnce,
  },
  {
    fault: 'create: accepted, but the answer is lost, and `request_counts` are null',
    providers: both,
    settings: { nullRequestCounts: true },
    arrange: strike('create', { kind: 'lost' }),
    fates: answered,
    sentAgain: 0,
    check: createsOnce,
  },
  {
    fault: 'create: accepted, but the answer is an HTML page with status 200',
    providers: both,
    arrange: strike('create', { kind: 'garbage' }),
    fates: answered,
    sentAgain: 0,
    check: createsOnce,
  },
  {
    fault: 'create: accepted, but the answer breaks off',
    providers: both,
    arrange: strike('create', { kind: 'truncate' }),
    fates: answered,
    sentAgain: 0,
    check: createsOnce,
  },
  {
    fault: 'create: answer lost, the batch in lists 10 s later, beside strangers of the same size',
    providers: both,
    settings: { listLag: 10 * second, foreignBatches: true },
    arrange: strike('create', { kind: 'lost' }),
    fates: answered,
    sentAgain: 0,
    check: createsOnce,
  },
  {
    fault: 'create: answer lost, the batch in lists 5 minutes later',
    providers: anthropicOnly,
    settings: { listLag: 5 * minute },
    arrange: strike('create', { kind: 'lost' }),
    fates: answered,
    sentAgain: 0,
    check: createsOnce,
  },
  {
    fault: 'create: answer lost, the batch in lists only a minute later (a twin)',
    providers: openaiOnly,
    notFor: withoutTwins,
    // Nothing of the twin may have run when it is seen.
    settings: { listLag: minute, speed: { validating: 30 * minute, running: 0 } },
    arrange: strike('create', { kind: 'lost' }),
    fates: answered,
    sentAgain: 3,
    check: twinIsCancelled,
  },
  {
    fault:
      'create: answer lost, the batch in lists only a minute later, and a create makes no twin',
    providers: withoutTwins,
    settings: { listLag: minute, speed: { validating: 30 * minute, running: 0 } },
    arrange: strike('create', { kind: 'lost' }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault:
      'create: connection lost, accepted a quarter of an hour later, and a create makes no twin',
    providers: withoutTwins,
    settings: { speed: { validating: 30 * minute, running: 0 } },
    arrange: strike('create', { kind: 'late', ms: 15 * minute }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'create: answer lost, a twin a minute later, and its cancel is answered 500, twice',
    providers: openaiOnly,
    notFor: withoutTwins,
    settings: { listLag: minute, speed: { validating: 30 * minute, running: 0 } },
    arrange(scene) {
      strike('create', { kind: 'lost' })(scene);
      strike('cancel', status(500), { times: 2 })(scene);
    },
    fates: answered,
    sentAgain: 3,
    check: ({ resent }) => expect(resent).toEqual([sentAgain, aTwinWasCancelled]),
  },
  {
    fault: 'create: answer lost, a twin a minute later, and its cancel is answered 500 for good',
    providers: openaiOnly,
    notFor: withoutTwins,
    settings: { listLag: minute, speed: { validating: 30 * minute, running: 0 } },
    arrange(scene) {
      strike('create', { kind: 'lost' })(scene);
      strike('cancel', status(500), { times: forGood })(scene);
    },
    fates: billedTimes(2),
    sentAgain: 3,
    check: ({ resent }) =>
      expect(resent).toEqual([sentAgain, expect.stringMatching(/^a twin could not be cancelled/)]),
  },
  {
    fault: 'create: answer lost, the batch in lists only after 20 minutes (a twin has run)',
    providers: anthropicOnly,
    settings: { listLag: 20 * minute },
    arrange: strike('create', { kind: 'lost' }),
    fates: billedTimes(2),
    sentAgain: 3,
    check: ({ resent }) => expect(resent).toEqual([sentAgain]),
  },
  {
    fault: 'create: 504, and not accepted',
    providers: both,
    arrange: strike('create', status(504)),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'create: connection reset, and not accepted',
    providers: both,
    arrange: strike('create', { kind: 'reset' }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'create: 408, not accepted, and the look for it fails with 500 three times',
    providers: both,
    arrange(scene) {
      strike('create', status(408))(scene);
      // The first look of Anthropic's is the one before the create.
      const skip = scene.provider === 'anthropic' ? 1 : 0;
      strike('list', status(500), { times: 3, skip })(scene);
    },
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'create: connection lost, accepted only a quarter of an hour later (a twin)',
    providers: openaiOnly,
    notFor: withoutTwins,
    // Nothing of the twin may have run when it is seen.
    settings: { speed: { validating: 30 * minute, running: 0 } },
    arrange: strike('create', { kind: 'late', ms: 15 * minute }),
    fates: answered,
    sentAgain: 3,
    check: twinIsCancelled,
  },
  {
    fault: 'create: answer lost, and the list answers 401 for good (key withdrawn)',
    providers: openaiOnly,
    arrange: lostWithoutList(status(401)),
    fates: failed('401 invalid_request_error', 0, 1),
    sentAgain: 0,
    check: toldInTime(10 * minute, 15 * minute),
  },
  {
    fault: 'create: answer lost, and the list answers 401 for good (key withdrawn)',
    providers: anthropicOnly,
    arrange: lostWithoutList(status(401)),
    fates: failed('401 authentication_error', 0, 1),
    sentAgain: 0,
    check: toldInTime(10 * minute, 15 * minute),
  },
  {
    fault: 'create: answer lost, and the list answers 500 for 35 minutes, then 401 once',
    providers: both,
    arrange(scene) {
      const { simulator, scope, clock, provider } = scene;
      strike('create', { kind: 'lost' })(scene);
      const off = scope.on('batch:submitting', () => {
        off();
        const skip = wireOf(provider).looksFirst ? 1 : 0;
        const rule = { ...requestOf(provider, 'list'), times: forGood, skip, action: status(500) };
        const fault = simulator.faults.add(rule);
        clock.setTimeout(() => {
          fault.remove();
          strike('list', status(401))(scene);
        }, 35 * minute);
      });
    },
    fates: answered,
    sentAgain: 0,
    check: createsOnce,
  },
  {
    fault: 'create: answer lost, and the list answers 500 for good',
    providers: both,
    arrange: lostWithoutList(status(500)),
    fates: failed('502 batchling_missing', 0, 1),
    sentAgain: 0,
    check: toldInTime(28 * hour, 30 * hour),
  },
];
