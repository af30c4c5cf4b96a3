import { hostname } from 'node:os';
import { messageOf } from '../../base/errors.ts';
import type { HttpClient } from '../../http/client.ts';
import type { BatchSummary, Ledger, OpenBatch } from '../../ledger/ledger.ts';
import { openWire } from '../../orchestrator/capture/accounts.ts';
import { stateWords } from '../../report/text/state-words.ts';
import type { Reachable } from './reachable.ts';

/** What became of the wish to cancel a batch. */
export interface Cancelled {
  readonly id: string;
  readonly outcome: 'cancelling' | 'released' | 'over' | 'failed';
  readonly text: string;
}

export interface Canceller {
  readonly ledger: Ledger;
  readonly http: HttpClient;
  readonly reachable: Reachable;
}

/** Cancels one batch: at its provider, or before it is sent. */
export async function cancelOne(
  canceller: Canceller,
  batch: BatchSummary,
  open: OpenBatch | undefined,
): Promise<Cancelled> {
  const { token: id } = batch;
  if (open === undefined) {
    return { id, outcome: 'over', text: `is over already: ${stateWords(batch, false)}` };
  }
  const { state, owner } = open;
  if (state === 'accepted') return cancelAtProvider(canceller, open);
  const failed = (text: string) => ({ id, outcome: 'failed', text }) as const;
  if (owner) {
    return failed(
      `is just being sent by process ${owner.pid} on ${owner.host}: try again in a moment, or stop ` +
        'that program',
    );
  }
  if (state === 'creating') {
    return failed(
      'may be at the provider or not: `batchling collect` finds out, then it can be cancelled',
    );
  }
  return release(canceller, open);
}

/** No lease is needed to ask the provider; the program that waits for the batch sees that it is cancelled. */
async function cancelAtProvider(
  { http, reachable }: Canceller,
  open: OpenBatch,
): Promise<Cancelled> {
  const { token: id, remoteId, queue, owner } = open;
  const reach = await reachable.reach(open);
  if ('obstacle' in reach || remoteId === undefined) {
    const why = 'obstacle' in reach ? reach.obstacle : 'the provider has given it no id';
    return { id, outcome: 'failed', text: `cannot be cancelled: ${why}` };
  }
  const { batcher, headers } = reach;
  const credentials = { headers: headers.secrets, query: headers.query };
  const wire = openWire(http, batcher, queue.base, { credentials });
  try {
    await batcher.cancel(wire, { id: remoteId });
  } catch (error) {
    const said = wire.redact(messageOf(error));
    const text = `could not be cancelled: ${said} \`batchling collect\` sees what became of it.`;
    return { id, outcome: 'failed', text };
  }
  const { cancelLosesWork } = batcher.info;
  const kept = cancelLosesWork
    ? `${queue.provider} keeps nothing of it, what was finished is lost although it is paid for`
    : '`batchling collect` fetches what was finished';
  const next = owner ? `process ${owner.pid} on ${owner.host} is told` : kept;
  return { id, outcome: 'cancelling', text: `is being cancelled at ${queue.provider}; ${next}` };
}

/** The batch never reached the provider: its requests are free for the next program that asks for them. */
async function release({ ledger }: Canceller, { id, token }: OpenBatch): Promise<Cancelled> {
  const owner = await ledger.join({ run: token, host: hostname(), pid: process.pid });
  const claimed = await ledger.claim(owner, id);
  if (claimed === undefined) {
    return { id: token, outcome: 'failed', text: 'was taken over by another process just now' };
  }
  await ledger.released(claimed.lease);
  return { id: token, outcome: 'released', text: 'was never sent, and will not be' };
}
