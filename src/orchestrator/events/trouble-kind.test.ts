import { expect, it } from 'vitest';
import { UnknownOutcomeError } from '../../base/errors.ts';
import type { BatchFailure } from '../../batchers/batcher.ts';
import { RefusedError } from '../../batchers/shared/refused-error.ts';
import { troubleKind } from './trouble-kind.ts';

const answer = { status: 418, headers: {}, body: '' };

it.each([
  ['denied', 'denied'],
  ['full', 'busy'],
  ['busy', 'failing'],
  ['gone', 'failing'],
  ['refused', 'failing'],
] as const)('what a batcher calls %s is told as %s, whatever its status', (meaning, kind) => {
  const failure: BatchFailure = { code: 'x', message: 'x', meaning, next: 'fail', answer };
  expect(troubleKind(new RefusedError(failure))).toMatchObject({ kind, said: '418' });
});

it('a status that leaves open what happened is told as failing', () => {
  const error = new UnknownOutcomeError('unclear', undefined, { status: 429 });
  expect(troubleKind(error)).toMatchObject({ kind: 'failing', said: '429' });
});
