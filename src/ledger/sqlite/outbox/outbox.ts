import { type DueMessage, messageLife, type Outbox, type OutboxMessage } from '../../outbox.ts';
import type { Store } from '../connection/store.ts';

/** Adds messages within a transaction that is under way. */
export type AddMessages = (messages: readonly OutboxMessage[]) => void;

export function prepareAddMessages(store: Store): AddMessages {
  const insert = store.prepare(
    `INSERT INTO outbox (id, target, body, at, due_at, attempt) VALUES (?1, ?2, ?3, ?4, ?4, 0)
     ON CONFLICT (id) DO NOTHING`,
  );
  return (messages) => {
    for (const { id, target, body } of messages) insert.run(id, target, body, store.now());
  };
}

export function prepareOutbox(store: Store, add: AddMessages): Outbox {
  const forget = store.prepare('DELETE FROM outbox WHERE at < ?');
  const claim = store.prepare(
    `UPDATE outbox SET due_at = ?1
     WHERE id IN (SELECT id FROM outbox WHERE target = ?2 AND due_at <= ?3 ORDER BY due_at LIMIT ?4)
     RETURNING id, target, body, attempt + 1 AS attempt`,
  );
  const findNext = store.prepare(
    'SELECT min(due_at) AS due FROM outbox WHERE target = ? AND due_at IS NOT NULL',
  );
  const update = store.prepare('UPDATE outbox SET due_at = ?, attempt = attempt + 1 WHERE id = ?');
  return {
    add: (messages) => store.write(() => add(messages)),
    take: (target, { lease, limit }) =>
      store.write(() => {
        const now = store.now();
        forget.run(now - messageLife);
        const messages = claim.all(now + lease, target, now, limit) as DueMessage[];
        const { due } = findNext.get(target) as { due: number | null };
        return { messages, ...(due !== null && { next: Math.max(0, due - now) }) };
      }),
    settle: (id, again) =>
      store.write(() => {
        update.run(again === undefined ? null : store.now() + again, id);
      }),
  };
}
