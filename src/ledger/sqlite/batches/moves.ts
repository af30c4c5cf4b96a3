import { nextTurn } from '../../../concurrency/event-loop.ts';
import { nobody } from '../../admission-rules.ts';
import { checkMove, checkPolled, type Finish } from '../../batch-moves.ts';
import type { BatchId, Lease, Ledger, RemoteMark } from '../../ledger.ts';
import { leaseLost } from '../../lost.ts';
import { BATCH } from '../../sql/codes.ts';
import { inSlices } from '../../sql/slices.ts';
import type { NewAnswers } from '../answers/new-answers.ts';
import type { Store } from '../connection/store.ts';
import type { AddMessages } from '../outbox/outbox.ts';
import type { Leases } from './lease.ts';
import { prepareMembers } from './members.ts';

export function moveMethods(store: Store, leases: Leases) {
  const stage = store.prepare(`UPDATE batch SET state = ${BATCH.staged}, handle = ? WHERE id = ?`);
  // A batch whose owner is gone counts, too: until it is claimed and resolved it may have been accepted.
  const findOther = store.prepare(
    `SELECT 1 FROM batch JOIN queue ON queue.id = batch.queue
     WHERE batch.state < ${BATCH.ended} AND batch.state = ${BATCH.creating} AND batch.id <> ?
       AND (queue.account, queue.base) = (SELECT account, base FROM queue WHERE id = ?)
     LIMIT 1`,
  );
  const create = store.prepare(
    `UPDATE batch SET state = ${BATCH.creating}, handle = ?, creating_at = ? WHERE id = ?`,
  );
  const setAccepted = store.prepare(
    `UPDATE batch SET state = ${BATCH.accepted}, accepted_at = ? WHERE id = ?`,
  );
  const giveBack = store.prepare(`UPDATE batch SET owner = ${nobody} WHERE id = ?`);
  const markRemote = prepareRemoteMark(store);
  return {
    staged: (lease, handle) =>
      store.write(() => {
        checkMove(leases.require(lease), 'staged');
        stage.run(JSON.stringify(handle), lease.batch);
      }),
    creating(lease, handle, { alone }) {
      const mark = () => {
        const batch = leases.require(lease);
        checkMove(batch, 'creating');
        if (alone && findOther.get(batch.id, batch.queue)) return false;
        create.run(JSON.stringify(handle), store.now(), batch.id);
        return true;
      };
      return store.write(mark, { durable: true });
    },
    accepted(lease, remote) {
      const accept = () => {
        checkMove(leases.require(lease), 'accepted');
        setAccepted.run(store.now(), lease.batch);
        markRemote(lease.batch, remote);
      };
      return store.write(accept, { durable: true });
    },
    async polled(updates) {
      const lost: Lease[] = [];
      await inSlices(updates, async (slice) => {
        const lostHere = await store.write(() =>
          slice.filter(({ lease, remote }) => {
            const batch = leases.find(lease);
            if (!batch) return true;
            checkPolled(batch);
            markRemote(batch.id, remote);
            return false;
          }),
        );
        lost.push(...lostHere.map(({ lease }) => lease));
      });
      if (lost.length > 0) throw leaseLost(lost);
    },
    async giveBack(lease) {
      await store.write(() => {
        leases.require(lease);
        giveBack.run(lease.batch);
      });
      store.touch();
    },
  } satisfies Partial<Ledger>;
}

/** Stores what the provider last said about a batch. Counts that it leaves out stay as they were. */
function prepareRemoteMark(store: Store): (batch: BatchId, remote: RemoteMark) => void {
  const update = store.prepare(
    'UPDATE batch SET remote_id = ?, raw = ?, counts = coalesce(?, counts) WHERE id = ?',
  );
  return (batch, { id, raw, counts }) => {
    update.run(id, raw, counts ? JSON.stringify(counts) : null, batch);
  };
}

/**
 * Before a batch gets its last state, answers are written into the rows of its members, and members
 * without an outcome are freed. After a crash in between it is an open batch with fewer members, which
 * a takeover can handle.
 */
export function prepareFinish(
  store: Store,
  leases: Leases,
  newAnswers: NewAnswers,
  addMessages: AddMessages,
): Finish {
  const members = prepareMembers(store);
  const update = store.prepare(
    'UPDATE batch SET state = ?, ended_at = ?, failure = ? WHERE id = ?',
  );
  return async (lease, to, failure, messages = []) => {
    for (;;) {
      await newAnswers.enter(lease.batch);
      const done = await store.write(() => {
        checkMove(leases.require(lease), to);
        if (newAnswers.count(lease.batch) > 0) return false;
        if (!members.free(lease.batch, lease.owner)) return false;
        update.run(BATCH[to], store.now(), failure ?? null, lease.batch);
        addMessages(messages);
        return true;
      });
      if (done) break;
      await nextTurn();
    }
    store.touch();
  };
}
