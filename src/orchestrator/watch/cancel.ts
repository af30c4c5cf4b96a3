import type { Remote } from '../../batchers/batcher.ts';
import { sleep } from '../../http/backoff.ts';
import type { ActiveBatch } from '../model/batch.ts';
import type { Workshop } from '../model/engine-context.ts';
import { Patience, unreachablePatience, waitFor } from '../model/patience.ts';
import { endIfUnwanted } from './unwanted.ts';

/**
 * Cancels at the provider, and tries again if it fails: what is not cancelled runs and is paid for.
 * `false`: it is wanted again. Throws when patience is over, or when the provider says no.
 */
export async function cancelRemote(
  { clock, stopped, report }: Workshop,
  batch: ActiveBatch,
  remote: Remote,
  isWantedAgain: () => boolean = () => false,
): Promise<boolean> {
  const patience = new Patience(clock);
  while (!isWantedAgain()) {
    try {
      await batch.batcher.cancel(batch.wire, remote);
      return true;
    } catch (error) {
      const wait = waitFor(error, 'whatever became of it');
      // Whatever it says: who cancels does not wait for room.
      if (wait === undefined || patience.isOver({ limited: true })) throw error;
      report(`cancel batch ${remote.id}`, error);
      await sleep(clock, patience.next(wait), stopped);
    }
  }
  return false;
}

/** Cancels a batch that its scopes have cancelled and nobody else waits for. Also asked at each poll. */
export async function cancelUnwanted(workshop: Workshop, batch: ActiveBatch): Promise<void> {
  const { remote } = batch;
  if (batch.cancelling || remote === undefined || batch.isWaitedFor()) return;
  if (remote.state === 'cancelling' || remote.state === 'ended') return;
  batch.cancelling = true;
  const cancellation = cancelRemote(workshop, batch, remote, () => batch.isWaitedFor());
  batch.cancellation = cancellation;
  try {
    batch.cancelling = await cancellation;
  } catch (error) {
    batch.cancelling = false;
    workshop.report(`cancel batch ${batch.token}`, error);
  }
}

/**
 * The same for a batch that may not be created yet. What waits is never created; a create that is on its
 * way is waited for, because only what the provider has can be cancelled. Settles in any case: when the
 * engine goes down, or when patience is over. The batch is then cancelled as soon as it is there.
 */
export async function cancelWhereverItIs(workshop: Workshop, batch: ActiveBatch): Promise<void> {
  if (batch.isWaitedFor()) return;
  batch.cancelRequested = true;
  endIfUnwanted(batch);
  const { clock, stopped, batches } = workshop;
  const done = new AbortController();
  const cancelled = async () => {
    if (batch.remote === undefined && batch.mayBeThere) await batch.outcome;
    // Another owner may have it by now.
    if (!batches.has(batch.lease.batch)) return;
    if (batch.cancelling) await batch.cancellation?.catch(() => undefined);
    await cancelUnwanted(workshop, batch);
  };
  const over = sleep(clock, unreachablePatience, AbortSignal.any([stopped, done.signal]));
  await Promise.race([cancelled(), over.catch(() => undefined)]);
  done.abort();
}
