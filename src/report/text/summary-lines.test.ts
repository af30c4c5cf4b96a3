import { expect, it } from 'vitest';
import { emptyStats } from '../../orchestrator/model/stats.ts';
import { summaryLine } from './summary.ts';
import { summaryLines } from './summary-lines.ts';

it('has a line for each thing that happened', () => {
  const stats = {
    ...emptyStats(),
    captured: 3_500,
    answered: 3_498,
    fromLedger: 500,
    flex: 2,
    realtime: 3,
    bypassed: 4,
    retried: 12,
    maybePaidTwice: 1,
    failed: 7,
    batches: { submitted: 2, slow: 1, ended: 2, collected: 2 },
    tokens: { input: 120_000, output: 80_000, cacheRead: 90_000, cacheWrite: 1_000 },
    dollars: { paid: 0.44, saved: 0.42, realtime: 0.02, flex: 0.01 },
    bypassReasons: { 'the body\u001b[2J is not JSON': 4 },
    failures: { '400 a': 1, '429 b': 3, '500 c': 1, '502 d': 1, '503 e': 1 },
    unpriced: { m1: 1, m2: 1, m3: 1, m4: 1 },
  };
  expect(summaryLines(stats, 42 * 60_000)).toEqual([
    'saved $0.42 (49%), paid $0.44',
    'ended after 42m: 3,491 of 3,500 calls answered, 7 failed',
    '  failures     7: 429 b (3), 400 a (1), 500 c (1), 2 other reasons',
    '  batches      2, 1 slow',
    '  from ledger  500',
    '  flex         2 one by one ($0.010)',
    '  realtime     3 at full price ($0.020)',
    '  bypassed     4 at full price: the body [2J is not JSON',
    '  retries      12',
    '  paid twice?  1 call may have been paid twice',
    '  tokens       120,000 in, 80,000 out',
    '  cache        90,000 tokens read, 1,000 written',
    '  no price     known for m1, m2, m3 and 1 other model',
  ]);
});

it('leaves out what did not happen', () => {
  const stats = { ...emptyStats(), captured: 1, answered: 1, fromLedger: 1 };
  expect(summaryLines(stats, 100)).toEqual(['done in 0s: 1 call answered', '  from ledger  1']);
});

it('does not count errors as answers', () => {
  const stats = {
    ...emptyStats(),
    captured: 60,
    answered: 60,
    failed: 60,
    failures: { '401': 60 },
  };
  expect(summaryLines(stats, 100)).toEqual([
    'done in 0s: 0 of 60 calls answered, 60 failed',
    '  failures  60: 401',
  ]);
  expect(summaryLine(stats)).toBe('0 of 60 calls answered, 60 failed');
  expect(summaryLine({ ...stats, failed: 0 })).toBe('60 calls answered');
  const dollars = { paid: 3, saved: 1, realtime: 0, flex: 0 };
  expect(summaryLine({ ...stats, failed: 0, dollars })).toBe(
    'saved $1.00 (25%), paid $3.00: 60 calls answered',
  );
});
