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
    realtime: 3,
    bypassed: 4,
    retried: 12,
    failed: 7,
    batches: { submitted: 2, ended: 2, collected: 2 },
    tokens: { input: 120_000, output: 80_000 },
    dollars: { paid: 0.44, saved: 0.42, realtime: 0.02 },
    bypassReasons: { 'the body\u001b[2J is not JSON': 4 },
    failures: { '400 a': 1, '429 b': 3, '500 c': 1, '502 d': 1, '503 e': 1 },
    unpriced: { m1: 1, m2: 1, m3: 1, m4: 1 },
  };
  expect(summaryLines(stats, 42 * 60_000)).toEqual([
    'ended after 42m',
    '  calls        3,491 of 3,500 answered, 7 failed',
    '  batches      2',
    '  from ledger  500',
    '  realtime     3 at full price ($0.020)',
    '  bypassed     4 at full price: the body [2J is not JSON',
    '  retries      12',
    '  failures     7: 429 b (3), 400 a (1), 500 c (1), 2 other reasons',
    '  tokens       120,000 in, 80,000 out',
    '  paid         $0.44',
    '  saved        $0.42 (49%)',
    '  no price     known for m1, m2, m3 and 1 other model',
  ]);
});

it('leaves out what did not happen', () => {
  const stats = { ...emptyStats(), captured: 1, answered: 1, fromLedger: 1 };
  expect(summaryLines(stats, 100)).toEqual([
    'done in 0s',
    '  calls        1 answered',
    '  from ledger  1',
  ]);
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
    'done in 0s',
    '  calls     0 of 60 answered, 60 failed',
    '  failures  60: 401',
  ]);
  expect(summaryLine(stats)).toBe('0 of 60 calls answered, 60 failed');
  expect(summaryLine({ ...stats, failed: 0 })).toBe('60 calls answered');
});
