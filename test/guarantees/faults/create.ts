import { expect } from 'vitest';
import {
  answered,
  anthropicOnly,
  both,
  type FaultCase,
  failed,
  forGood,
  hour,
  minute,
  type Outcome,
  openaiOnly,
  requests,
  second,
  status,
  strike,
} from '../fault-case.ts';

/** A create whose answer leaves no doubt. */
export const createFaults: readonly FaultCase[] = [
  {
    fault: 'create: 429 with `Retry-After: 300`, twice',
    providers: both,
    arrange: strike('create', status(429, { headers: { 'retry-after': '300' } }), { times: 2 }),
    fates: answered,
    sentAgain: 0,
    check({ simulator }) {
      const creates = simulator.requests.filter(
        ({ method, path }) => method === 'POST' && requests.create.path.test(path),
      );
      const [first, second, third] = creates.map(({ at }) => at);
      expect((second ?? 0) - (first ?? 0)).toBe(5 * minute);
      expect((third ?? 0) - (second ?? 0)).toBe(5 * minute);
    },
  },
  {
    fault: 'create: 429 without `Retry-After`, for hours',
    providers: both,
    options: { attempts: 1 },
    arrange: strike('create', status(429), { times: 200 }),
    fates: answered,
    sentAgain: 0,
    check: ({ heardAt }) => expect(heardAt[0]).toBeGreaterThan(2 * hour),
  },
  {
    fault: 'create: 503, three times',
    providers: both,
    arrange: strike('create', status(503), { times: 3 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'create: 529 (overloaded), three times',
    providers: both,
    arrange: strike('create', status(529), { times: 3 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'create: 503 for good',
    providers: openaiOnly,
    arrange: strike('create', status(503), { times: forGood }),
    fates: failed('503 server_error'),
    sentAgain: 0,
    check: ({ heardAt }) => expect(heardAt[0]).toBeLessThan(18 * minute),
  },
  {
    fault: 'create: 503 for good',
    providers: anthropicOnly,
    arrange: strike('create', status(503), { times: forGood }),
    fates: failed('503 api_error'),
    sentAgain: 0,
    check: ({ heardAt }) => expect(heardAt[0]).toBeLessThan(18 * minute),
  },
  {
    fault: 'create: 500 for good, and never accepted',
    providers: both,
    arrange: strike('create', status(500), { times: forGood }),
    fates: failed('502 batchling_missing'),
    sentAgain: 0,
    check: ({ heardAt }) => expect(heardAt[0]).toBeLessThan(90 * minute),
  },
  ...refused(400, '', 'invalid_request_error', 'invalid_request_error'),
  ...refused(401, ' (key refused)', 'invalid_request_error', 'authentication_error'),
  ...refused(402, ' (balance used up)', 'invalid_request_error', 'billing_error'),
  ...refused(403, ' (not in this plan)', 'invalid_request_error', 'permission_error'),
  {
    fault: 'create: 413 for a batch of four, none for batches of two',
    providers: anthropicOnly,
    prompts: ['one', 'two', 'three', 'four'],
    arrange: strike('create', status(413)),
    fates: answered,
    sentAgain: 0,
  },
];

/** Nothing is sent again, and the callers hear it at once. */
function refused(code: number, why: string, ofOpenAI: string, ofAnthropic: string): FaultCase[] {
  const row = { fault: `create: ${code}${why}`, arrange: strike('create', status(code)) };
  const check: FaultCase['check'] = ({ simulator, heardAt }) => {
    const { method, path } = requests.create;
    expect(simulator.countRequests(method, path)).toBe(1);
    expect(heardAt[0]).toBeLessThan(10 * second);
  };
  const outcome = (type: string): Outcome => `${code} ${type}`;
  return [
    { ...row, providers: openaiOnly, fates: failed(outcome(ofOpenAI)), sentAgain: 0, check },
    { ...row, providers: anthropicOnly, fates: failed(outcome(ofAnthropic)), sentAgain: 0, check },
  ];
}
