import { randomBytes } from 'node:crypto';
import type { NewBatch, RequestId } from '../../ledger/ledger.ts';
import { Batch } from '../model/batch.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import type { BatchStart } from './batch-life.ts';

/** Writes a batch of these rows down. It has no lines yet, and is nowhere but in the ledger. */
export async function newBatch(
  { ledger, owner }: EngineContext,
  queue: RequestQueue,
  rows: readonly RequestId[],
  facts: Omit<NewBatch, 'token' | 'queue'>,
): Promise<Batch> {
  const token = `bl_${randomBytes(8).toString('hex')}`;
  const lease = await ledger.plan(owner.id, { token, queue: queue.id, ...facts }, rows);
  return new Batch(token, queue, lease);
}

/** From here on this process works on the batch. An engine that is going down sends nothing of it. */
export function enterBatches({ batches, stopped }: EngineContext, batch: Batch): void {
  batches.set(batch.lease.batch, batch);
  if (stopped.aborted) batch.ending.abort(stopped.reason);
}

/** How a batch begins that is sent now. A function of its own: a closure made by its caller would keep the requests. */
export function startOf(sent: Promise<void>): BatchStart {
  const submitted = sent.then(() => undefined);
  // Whoever lives with the batch hears of it, only a moment later.
  submitted.catch(() => undefined);
  return { submitted, endFor: (error) => ({ is: 'unsent', error }), isOld: false };
}
