import type { Remote } from '../batchers/batcher.ts';
import { sleep } from '../http/backoff.ts';
import type { ActiveBatch } from './active-batch.ts';
import { Patience, waitFor } from './patience.ts';
import type { Workshop } from './workshop.ts';

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
  try {
    batch.cancelling = await cancelRemote(workshop, batch, remote, () => batch.isWaitedFor());
  } catch (error) {
    batch.cancelling = false;
    workshop.report(`cancel batch ${batch.token}`, error);
  }
}
