import type { BatchState, BatchSummary } from '../../ledger/ledger.ts';
import type { Slowness } from '../../orchestrator/model/batch-times.ts';
import { slowWords } from './event-lines.ts';

/** What the state of a batch means, in plain words; `isOwned`: a living process works on it. */
export function stateWords(
  { state, failure }: Pick<BatchSummary, 'state' | 'failure'>,
  isOwned: boolean,
  slow?: Slowness,
): string {
  if (slow) return slowWords[slow.kind];
  if (state === 'ended') return failure === undefined ? 'done' : 'failed';
  if (state === 'creating') return isOwned ? 'being sent' : 'unclear';
  return words[state];
}

const words: Readonly<Record<Exclude<BatchState, 'ended' | 'creating'>, string>> = {
  planned: 'not sent',
  staged: 'uploaded',
  accepted: 'under way',
  refused: 'refused',
  released: 'never sent',
};
