import { expect } from 'vitest';
import {
  answered,
  anthropicOnly,
  type FaultCase,
  failed,
  forGood,
  hour,
  minute,
  openaiOnly,
  requests,
  second,
  status,
  strike,
} from '../fault-case.ts';

/** Uploads bill nothing, so they are repeated whatever became of the last. */
export const uploadFaults: readonly FaultCase[] = [
  {
    fault: 'upload: 429 with `Retry-After: 120`',
    providers: openaiOnly,
    arrange: strike('upload', status(429, { headers: { 'retry-after': '120' } })),
    fates: answered,
    sentAgain: 0,
    check({ simulator }) {
      const [first, next] = simulator.requests.filter(({ path }) =>
        requests.upload.path.test(path),
      );
      expect((next?.at ?? 0) - (first?.at ?? 0)).toBe(120 * second);
    },
  },
  {
    fault: 'upload: 500, five times',
    providers: openaiOnly,
    arrange: strike('upload', status(500), { times: 5 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'upload: connection reset in the middle of the body',
    providers: openaiOnly,
    arrange: strike('upload', { kind: 'reset-mid-body' }, { times: 2 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'upload: file stored, answer lost',
    providers: openaiOnly,
    arrange: strike('upload', { kind: 'lost' }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'upload: an HTML page with status 200',
    providers: openaiOnly,
    arrange: strike('upload', { kind: 'garbage' }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'upload: 401 (key refused)',
    providers: openaiOnly,
    arrange: strike('upload', status(401), { times: forGood }),
    fates: failed('401 invalid_request_error'),
    sentAgain: 0,
  },
  {
    fault: 'upload: 413 for a file of four requests, none for files of two',
    providers: openaiOnly,
    prompts: ['one', 'two', 'three', 'four'],
    arrange: strike('upload', status(413)),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'look at the list before a create: 500 five times, then an HTML page',
    providers: anthropicOnly,
    arrange(scene) {
      strike('list', status(500), { times: 5 })(scene);
      strike('list', { kind: 'garbage' })(scene);
    },
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'upload: 500 for good',
    providers: openaiOnly,
    arrange: strike('upload', status(500), { times: forGood }),
    fates: failed('500 server_error'),
    sentAgain: 0,
    check({ heardAt }) {
      expect(heardAt[0]).toBeGreaterThan(15 * minute);
      expect(heardAt[0]).toBeLessThan(18 * minute);
    },
  },
  {
    fault: 'upload: 429 for good',
    providers: openaiOnly,
    arrange: strike('upload', status(429), { times: forGood }),
    fates: failed('429 rate_limit_exceeded'),
    sentAgain: 0,
    check({ heardAt }) {
      expect(heardAt[0]).toBeGreaterThan(28 * hour);
      expect(heardAt[0]).toBeLessThan(30 * hour);
    },
  },
  {
    fault: 'look at the list before a create: 429 for good',
    providers: anthropicOnly,
    arrange: strike('list', status(429), { times: forGood }),
    fates: failed('429 rate_limit_error'),
    sentAgain: 0,
    check({ heardAt }) {
      expect(heardAt[0]).toBeGreaterThan(28 * hour);
      expect(heardAt[0]).toBeLessThan(30 * hour);
    },
  },
  {
    fault: 'upload: 429 `insufficient_quota`',
    providers: openaiOnly,
    arrange: strike('upload', usedUp('insufficient_quota'), { times: forGood }),
    fates: failed('429 insufficient_quota'),
    sentAgain: 0,
    check: toldAtOnce,
  },
  {
    fault: 'create: 429 `billing_hard_limit_reached`',
    providers: openaiOnly,
    arrange: strike('create', usedUp('billing_hard_limit_reached'), { times: forGood }),
    fates: failed('429 insufficient_quota'),
    sentAgain: 0,
    check: toldAtOnce,
  },
];

/** No more money: waiting makes no room. */
function usedUp(code: string) {
  const message = 'You exceeded your current quota, please check your plan and billing details.';
  return status(429, { body: { error: { message, type: 'insufficient_quota', code } } });
}

function toldAtOnce({ heardAt }: { heardAt: readonly number[] }): void {
  expect(heardAt[0]).toBeLessThan(minute);
}
