import type { Remote } from '../batchers/batcher.ts';
import type { BatchId, ClaimedBatch } from '../ledger/ledger.ts';
import { ActiveBatch } from './active-batch.ts';
import { itemId } from './fingerprint.ts';
import type { PendingRequest } from './pending.ts';
import type { Recovery } from './recovery.ts';
import type { Workshop } from './workshop.ts';

/** Takes over batches that a dead or closed owner left, and brings them to an end. */
export class Resume {
  readonly #workshop: Workshop;
  readonly #recovery: Recovery;
  readonly #watch: (batch: ActiveBatch) => void;

  constructor(workshop: Workshop, recovery: Recovery, watch: (batch: ActiveBatch) => void) {
    this.#workshop = workshop;
    this.#recovery = recovery;
    this.#watch = watch;
  }

  /** The batch, if its owner is gone and it is ours now. */
  async claim(id: BatchId, asker: PendingRequest): Promise<ActiveBatch | undefined> {
    const { ledger, owner, batches, background } = this.#workshop;
    const claimed = await ledger.claim(owner, id);
    if (claimed === undefined) return undefined;
    const batch = activate(claimed, asker);
    batches.set(id, batch);
    background(`resume batch ${batch.token}`, this.#continue(batch, claimed));
    return batch;
  }

  async #continue(batch: ActiveBatch, claimed: ClaimedBatch): Promise<void> {
    if (claimed.state === 'accepted' && claimed.remoteId !== undefined) {
      batch.remote = placeholder(claimed.remoteId);
      batch.acceptedAt = claimed.acceptedAt ?? this.#workshop.clock.now();
      this.#watch(batch);
      return;
    }
    if (claimed.state === 'creating') {
      const found = await this.#recovery.find(batch, claimed.creatingAt);
      if (found) {
        await this.#adopt(batch, found);
        return;
      }
    }
    await this.#release(batch);
  }

  async #adopt(batch: ActiveBatch, remote: Remote): Promise<void> {
    batch.remote = remote;
    batch.acceptedAt = this.#workshop.clock.now();
    await this.#workshop.ledger.accepted(batch.lease, remote);
    batch.emit('batch:submitted', batch.facts());
    this.#watch(batch);
  }

  /** It never reached the provider: those who wait queue anew, the rest is forgotten. */
  async #release(batch: ActiveBatch): Promise<void> {
    const { ledger, owner, batches } = this.#workshop;
    await ledger.released(batch.lease);
    batches.delete(batch.lease.batch);
    const members = [...batch.members.values()].filter((member) => !member.settled);
    const orphans = members.filter(({ pending }) => pending === undefined);
    await ledger.settled(
      owner,
      orphans.map(({ request }) => ({ request, is: 'release' }) as const),
    );
    for (const { pending } of members) {
      if (pending === undefined || pending.settled) continue;
      pending.batch = undefined;
      pending.queue.add(pending);
    }
  }
}

function activate(claimed: ClaimedBatch, asker: PendingRequest): ActiveBatch {
  const batch = new ActiveBatch(claimed.token, asker.queue, claimed.lease);
  batch.handle = claimed.handle;
  batch.cursor = claimed.cursor;
  for (const member of claimed.members) {
    batch.members.set(itemId(member.fingerprint, member.occurrence), {
      request: member.request,
      attempt: member.attempt,
      pending: undefined,
      settled: member.settled,
    });
  }
  return batch;
}

function placeholder(id: string): Remote {
  return { id, state: 'running', raw: 'unknown', readable: false, sources: {} };
}
