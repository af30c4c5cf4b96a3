import type { Answer } from '../../types.ts';
import type { RequestId } from '../ledger.ts';
import type { Store } from './store.ts';
import { fromStored, toStored } from './stored-text.ts';

interface AnswerRow {
  readonly status: number;
  readonly headers: string;
  readonly body: string | Uint8Array;
}

export type AnswerId = number;

/** The stored answers, for use inside a transaction. */
export interface Answers {
  find(id: AnswerId | null): Answer | undefined;
  /** Its request has to be told the id. */
  add(request: RequestId, answer: Answer): AnswerId;
  erase(id: AnswerId | null): void;
}

export function prepareAnswers(store: Store): Answers {
  const find = store.prepare('SELECT status, headers, body FROM answer WHERE id = ?');
  const add = store.prepare(
    'INSERT INTO answer (request, status, headers, body) VALUES (?, ?, ?, ?)',
  );
  const erase = store.prepare('DELETE FROM answer WHERE id = ?');
  return {
    find(id) {
      const row = find.get(id) as AnswerRow | undefined;
      if (!row) return undefined;
      return {
        status: row.status,
        headers: JSON.parse(row.headers),
        body: fromStored(row.body),
      };
    },
    add(request, { status, headers, body }) {
      const { lastInsertRowid } = add.run(request, status, JSON.stringify(headers), toStored(body));
      return Number(lastInsertRowid);
    },
    erase(id) {
      if (id !== null) erase.run(id);
    },
  };
}
