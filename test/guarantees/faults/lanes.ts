import { expect } from 'vitest';
import type { FaultAction, FaultRule, FlexTier } from '../../../src/simulator/index.ts';
import {
  answered,
  billedTimes,
  type FaultCase,
  failed,
  forGood,
  hour,
  minute,
  openaiOnly,
  type Provider,
  status,
} from '../fault-case.ts';

const flexProviders: readonly Provider[] = ['openai', 'google'];
const flex = { lane: 'flex' } as const;
const calls = /chat\/completions$|:generateContent$/;

function tier(settings: FlexTier): FaultCase['arrange'] {
  return ({ simulator, provider }) => simulator.configure({ flex: { [provider]: settings } });
}

function strikeCalls(
  action: FaultAction,
  often: Pick<FaultRule, 'times' | 'skip'> = {},
): FaultCase['arrange'] {
  return ({ simulator }) => simulator.faults.add({ method: 'POST', path: calls, ...often, action });
}

const spent = {
  error: { message: 'You exceeded your current quota.', type: 'insufficient_quota', code: 'x' },
};

const faults: readonly FaultCase[] = [
  {
    fault: 'lane flex: the tier has no room for two hours',
    providers: flexProviders,
    options: flex,
    arrange: (scene) => tier({ full: { until: scene.clock.now() + 2 * hour } })(scene),
    fates: answered,
    sentAgain: 0,
    check: ({ heardAt }) => expect(Math.max(...heardAt)).toBeLessThan(2 * hour + 10 * minute),
  },
  {
    fault: 'lane flex: the tier has no room before the deadline of an hour',
    providers: openaiOnly,
    options: { ...flex, deadline: '1h' },
    arrange: tier({ full: 'always' }),
    fates: failed('504 batchling_deadline'),
    sentAgain: 0,
    check: ({ heardAt }) => expect(Math.max(...heardAt)).toBeLessThan(hour + minute),
  },
  {
    fault: 'lane flex: the same, with `onDeadline: "realtime"`',
    providers: flexProviders,
    options: { ...flex, deadline: '1h', onDeadline: 'realtime' },
    arrange: tier({ full: 'always' }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: '`onDeadline: "flex"`: the tier has no room for 20 calls whose batch is stuck',
    providers: openaiOnly,
    prompts: Array.from({ length: 20 }, (_, at) => `number ${at}`),
    options: { deadline: '1h', onDeadline: 'flex', realtimeConcurrency: 1 },
    arrange: (scene) => {
      scene.simulator.faults.nextBatch({ stuckIn: 'validating' });
      tier({ full: 'always' })(scene);
    },
    fates: answered,
    sentAgain: 0,
    check: ({ heardAt }) => expect(Math.max(...heardAt)).toBeLessThan(hour + 5 * minute),
  },
  {
    fault: 'lane flex: the model has no such tier, so its calls are batched',
    providers: flexProviders,
    options: flex,
    arrange: tier({ forbidden: true }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'lane flex: two calls are answered with 500',
    providers: flexProviders,
    options: flex,
    arrange: strikeCalls(status(500), { times: 2 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'lane flex: 500 for good: the callers get it after three attempts',
    providers: openaiOnly,
    options: flex,
    arrange: strikeCalls(status(500, { body: { error: { type: 'server_error' } } }), {
      times: forGood,
    }),
    fates: failed('500 server_error'),
    sentAgain: 0,
  },
  {
    fault: 'lane flex: the account has no money left (429 `insufficient_quota`)',
    providers: openaiOnly,
    options: flex,
    arrange: strikeCalls(status(429, { body: spent }), { times: forGood }),
    fates: failed('429 insufficient_quota'),
    sentAgain: 0,
    check: ({ heardAt }) => expect(Math.max(...heardAt)).toBeLessThan(minute),
  },
  {
    fault:
      'lane flex: the answer to the first call is lost on its way (it is paid twice, and said so)',
    providers: openaiOnly,
    prompts: ['one'],
    options: flex,
    arrange: strikeCalls({ kind: 'lost' }),
    fates: billedTimes(2),
    sentAgain: 0,
    check: ({ scope }) => expect(scope.stats.maybePaidTwice).toBe(1),
  },
  {
    fault: 'lane flex: half of the first answer comes (it is paid twice, and said so)',
    providers: openaiOnly,
    prompts: ['one'],
    options: flex,
    arrange: strikeCalls({ kind: 'truncate' }),
    fates: billedTimes(2),
    sentAgain: 0,
    check: ({ scope }) => expect(scope.stats.maybePaidTwice).toBe(1),
  },
  {
    fault: 'lane flex: the first answer is 200 and no JSON (it is paid twice, and said so)',
    providers: openaiOnly,
    prompts: ['one'],
    options: flex,
    arrange: strikeCalls({ kind: 'garbage' }),
    fates: billedTimes(2),
    sentAgain: 0,
    check: ({ scope }) => expect(scope.stats.maybePaidTwice).toBe(1),
  },
  {
    fault: 'lane flex: the connection is reset before anything is done',
    providers: flexProviders,
    options: flex,
    arrange: strikeCalls({ kind: 'reset' }, { times: 2 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'lane realtime: 429 for ten calls',
    providers: ['openai', 'anthropic', 'google'],
    options: { lane: 'realtime' },
    arrange: strikeCalls(status(429, { headers: { 'retry-after': '20' } }), { times: 10 }),
    fates: answered,
    sentAgain: 0,
  },
];

/** Ordinary calls of ours: the lanes `flex` and `realtime`. */
export const laneFaults = faults.map((fault): FaultCase => ({ ...fault, isLane: true }));
