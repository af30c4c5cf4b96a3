import { expect, it } from 'vitest';
import type { BatchSummary } from '../ledger/ledger.ts';
import { typicalTimes } from './typical-times.ts';

const batch = (model: string, duration: number, given: Partial<BatchSummary> = {}) =>
  ({
    ...{ provider: 'openai', model, state: 'ended', acceptedAt: 1_000 },
    ...{ endedAt: 1_000 + duration },
    ...given,
  }) as BatchSummary;

it('are the medians of finished batches, by model', () => {
  const { endedAt: _, ...open } = batch('a', 1);
  const batches = [
    ...[5, 500, 7, 6, 4].map((minutes) => batch('a', minutes)),
    batch('b', 9),
    batch('b', 1, { failure: 'invalid' }),
    batch('b', 1, { state: 'refused' }),
    open as BatchSummary,
  ];
  expect(typicalTimes(batches)).toEqual([
    { provider: 'openai', model: 'a', duration: 6 },
    { provider: 'openai', model: 'b', duration: 9 },
  ]);
});
