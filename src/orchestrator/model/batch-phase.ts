import { invariant } from '../../base/errors.ts';
import type { Answer } from '../../base/types.ts';
import type { Remote } from '../../batchers/batcher.ts';

/**
 * Where a batch of this process is in its life, with what belongs to that phase alone:
 * - `planned`: in the ledger; nothing that costs money has left.
 * - `creating`: its create is on its way, or went out in an earlier run. The provider may have it.
 * - `looking`: nobody knows whether its create was accepted; it is looked for.
 * - `running`: the provider has it.
 * - `collecting`: it has ended, and its results are read; or they cannot be, which is tried again.
 * - `over`: nothing more happens to it here. `answer`: what its callers were told when it was given up.
 */
export type BatchPhase =
  | { readonly name: 'planned' }
  | { readonly name: 'creating' }
  | { readonly name: 'looking' }
  | { readonly name: 'running'; readonly remote: Remote; readonly acceptedAt: number }
  | {
      readonly name: 'collecting';
      readonly remote: Remote;
      readonly acceptedAt: number;
      readonly isUnreadable: boolean;
    }
  | { readonly name: 'over'; readonly remote?: Remote | undefined; readonly answer?: Answer };

export type BatchPhaseName = BatchPhase['name'];

/** The phases that may follow each phase. */
export const phaseMoves: Readonly<Record<BatchPhaseName, readonly BatchPhaseName[]>> = {
  // An earlier run may have brought it further already.
  planned: ['creating', 'running', 'over'],
  // Back to `planned`: the provider said that it has not taken it.
  creating: ['planned', 'looking', 'running', 'over'],
  looking: ['planned', 'running', 'over'],
  running: ['running', 'collecting', 'over'],
  // Back to `running`: the provider has not shown all of its results yet.
  collecting: ['running', 'collecting', 'over'],
  over: [],
};

/** The next phase, if that move is allowed. */
export function movePhase(token: string, from: BatchPhase, to: BatchPhase): BatchPhase {
  const isAllowed = phaseMoves[from.name].includes(to.name);
  invariant(isAllowed, `Batch ${token} cannot go from ${from.name} to ${to.name}`);
  return to;
}
