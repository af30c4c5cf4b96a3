import { BatchlingError } from '../../base/errors.ts';
import type { Clock } from '../../base/types.ts';
import type { BatchlingEvents } from '../events/events.ts';
import type { Batch } from '../model/batch.ts';
import { failureOf } from '../model/failure-of.ts';

type Step = BatchlingEvents['batch:step'];

export interface DoneStep<T> {
  readonly result: T;
  /** Listeners are code of others: nothing of theirs runs before what has happened is in the ledger. */
  readonly tell: () => void;
}

/** Does a step of sending a batch, and measures how long it took. One that fails is told at once. */
export async function timedStep<T>(
  clock: Clock,
  batch: Batch,
  step: Step['step'],
  work: () => Promise<T>,
): Promise<DoneStep<T>> {
  const begun = clock.now();
  const ended = () => {
    const end = clock.now();
    const { traces } = batch;
    return (failure?: string) => {
      const times = { took: Math.max(0, end - begun), ago: Math.max(0, clock.now() - end) };
      const more = { ...(traces && { traces }), ...(failure !== undefined && { failure }) };
      batch.emit('batch:step', { ...batch.facts(), step, ...times, ...more });
    };
  };
  try {
    return { result: await work(), tell: ended() };
  } catch (error) {
    // One that we have ended ourselves has not failed.
    if (!batch.ending.signal.aborted) ended()(codeOf(error));
    throw error;
  }
}

function codeOf(error: unknown): string {
  const failure = failureOf(error);
  if (failure) return failure.code;
  if (BatchlingError.isInstance(error)) return error.code.toLowerCase();
  return error instanceof Error ? error.name : 'error';
}
