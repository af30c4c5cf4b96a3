import type { Remote } from '../../batchers/batcher.ts';
import { sleep } from '../../concurrency/backoff.ts';
import { Patience, unreachablePatience } from '../../concurrency/patience.ts';
import type { Batch } from '../model/batch.ts';
import type { EngineContext } from '../model/engine-context.ts';
import { endIfUnwanted } from '../model/unwanted.ts';
import { waitFor } from '../model/wait-for.ts';

/**
 * Cancels at the provider, and tries again if it fails: what is not cancelled runs and is paid for.
 * `false`: it is wanted again. Throws when patience is over, or when the provider says no.
 */
export async function cancelRemote(
  { clock, stopped, report }: EngineContext,
  { batcher, wire }: Batch,
  remote: Remote,
  isWantedAgain: () => boolean = () => false,
): Promise<boolean> {
  const patience = new Patience(clock);
  while (!isWantedAgain()) {
    try {
      await batcher.cancel(wire, remote);
      return true;
    } catch (error) {
      const wait = waitFor(error, 'whatever became of it');
      // Whatever the provider says, a cancel does not wait for room.
      if (wait === undefined || patience.isOver({ limited: true })) throw error;
      report(`cancel batch ${remote.id}`, error);
      await sleep(clock, patience.next(wait), stopped);
    }
  }
  return false;
}

/** Cancels a batch if that is asked for and nobody has time for it any more. Also asked at each poll. */
export function cancelIfAskedFor(context: EngineContext, batch: Batch): void {
  const { cancellation, phase } = batch;
  if (cancellation.state !== 'asked for' || phase.name !== 'running' || batch.isWanted) return;
  const { remote } = phase;
  if (remote.state === 'cancelling' || remote.state === 'ended') return;
  const work = cancelRemote(context, batch, remote, () => batch.isWanted);
  cancellation.send(work);
  context.background(`cancel batch ${batch.token}`, work);
}

/**
 * Cancels a batch whose callers have been told, and that may not be created yet. What waits is never
 * created; a create that is on its way is waited for, because only what the provider has can be cancelled.
 * Settles in any case: when the engine goes down, or when patience is over. The batch is then cancelled
 * as soon as the provider has it.
 */
export async function cancelWhereverItIs(context: EngineContext, batch: Batch): Promise<void> {
  if (batch.isWaitedFor()) return;
  batch.cancellation.askFor();
  endIfUnwanted(batch);
  const { clock, stopped } = context;
  const done = new AbortController();
  const cancelled = async () => {
    const { name } = batch.phase;
    if (name === 'creating' || name === 'looking') await batch.created;
    cancelIfAskedFor(context, batch);
    await batch.cancellation.settled;
  };
  const over = sleep(clock, unreachablePatience, AbortSignal.any([stopped, done.signal]));
  await Promise.race([cancelled(), over.catch(() => undefined)]);
  done.abort();
}
