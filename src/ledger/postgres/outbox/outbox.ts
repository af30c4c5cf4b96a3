import { type DueMessage, messageLife, type Outbox, type OutboxMessage } from '../../outbox.ts';
import type { Store, Transaction } from '../connection/store.ts';

/** Adds messages within a transaction that is under way. */
export async function addMessages(
  { run, now }: Transaction,
  messages: readonly OutboxMessage[],
): Promise<void> {
  for (const { id, target, body } of messages) {
    await run(
      `INSERT INTO outbox (id, target, body, at, due_at, attempt) VALUES ($1, $2, $3, $4, $4, 0)
       ON CONFLICT (id) DO NOTHING`,
      [id, target, body, now],
    );
  }
}

export function prepareOutbox(store: Store): Outbox {
  return {
    add: (messages) => store.write((transaction) => addMessages(transaction, messages)),
    take: (target, { lease, limit }) =>
      store.write(async ({ run, rows, now }) => {
        await run('DELETE FROM outbox WHERE at < $1', [now - messageLife]);
        const messages = await rows<DueMessage>(
          `WITH due AS MATERIALIZED (
             SELECT id FROM outbox WHERE target = $2 AND due_at <= $3
             ORDER BY due_at LIMIT $4 FOR UPDATE SKIP LOCKED
           )
           UPDATE outbox SET due_at = $1
           FROM due WHERE outbox.id = due.id
           RETURNING outbox.id, target, body, attempt + 1 AS attempt`,
          [now + lease, target, now, limit],
        );
        const [next] = await rows<{ due: number | null }>(
          'SELECT min(due_at) AS due FROM outbox WHERE target = $1 AND due_at IS NOT NULL',
          [target],
        );
        const due = next?.due ?? null;
        return { messages, ...(due !== null && { next: Math.max(0, Number(due) - now) }) };
      }),
    settle: (id, again) =>
      store.write(async ({ run, now }) => {
        await run('UPDATE outbox SET due_at = $1, attempt = attempt + 1 WHERE id = $2', [
          again === undefined ? null : now + again,
          id,
        ]);
      }),
  };
}
