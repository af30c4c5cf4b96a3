import { invariant } from '../../base/errors.ts';

/**
 * Where a request is:
 * - `asked`: the ledger has not said yet whose it is.
 * - `elsewhere`: another owner, or another request of this process, stands for the same row.
 * - `queued`: ours, in its queue.
 * - `flushed`: ours, out of its queue and on its way into a batch.
 * - `planning`: being written into a plan, too late to be taken out.
 * - `planned`: a member of a batch.
 * - `sending`: on the wire as an ordinary call.
 * - `done`: it has its answer, or was withdrawn.
 */
export type RequestStage =
  | 'asked'
  | 'elsewhere'
  | 'queued'
  | 'flushed'
  | 'planning'
  | 'planned'
  | 'sending'
  | 'done';

/** The stages that may follow each stage. */
export const stageMoves: Readonly<Record<RequestStage, readonly RequestStage[]>> = {
  asked: ['elsewhere', 'flushed', 'done'],
  // `elsewhere` follows itself when its owner is gone, and yet another one has taken it.
  elsewhere: ['elsewhere', 'flushed', 'planned', 'done'],
  queued: ['flushed', 'done'],
  // The ledger is asked once more whose it is, and it may be somebody else's (`elsewhere`) by now.
  flushed: ['queued', 'flushed', 'elsewhere', 'planning', 'sending', 'done'],
  // Back to `flushed`: the plan could not be written.
  planning: ['planned', 'flushed'],
  // Back to `flushed`: its batch brings no answer.
  planned: ['flushed', 'done'],
  // Back to `flushed`: it was not accepted, or is tried again.
  sending: ['flushed', 'done'],
  // Callers that join a line whose batch was given up are told the same answer.
  done: ['done'],
};

/** The next stage, if that move is allowed. `row` is for the message, which is made only where it is needed. */
export function moveStage(row: number, from: RequestStage, to: RequestStage): RequestStage {
  if (stageMoves[from].includes(to)) return to;
  invariant(false, `Request ${row} cannot go from ${from} to ${to}`);
}
