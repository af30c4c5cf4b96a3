import type { Answer } from '../../types.ts';
import type { RequestId } from '../ledger.ts';
import type { Store } from './store.ts';
import { fromStored, toStored } from './stored-text.ts';

interface AnswerRow {
  readonly status: number;
  readonly headers: string;
  readonly body: string | Uint8Array;
}

/** The stored answers, for use inside a transaction. */
export interface Answers {
  find(request: RequestId): Answer | undefined;
  put(request: RequestId, answer: Answer): void;
  erase(request: RequestId): void;
}

export function prepareAnswers(store: Store): Answers {
  const find = store.prepare('SELECT status, headers, body FROM answer WHERE request = ?');
  const put = store.prepare(
    'INSERT OR REPLACE INTO answer (request, status, headers, body) VALUES (?, ?, ?, ?)',
  );
  const erase = store.prepare('DELETE FROM answer WHERE request = ?');
  return {
    find(request) {
      const row = find.get(request) as AnswerRow | undefined;
      if (!row) return undefined;
      return {
        status: row.status,
        headers: JSON.parse(row.headers),
        body: fromStored(row.body),
      };
    },
    put(request, { status, headers, body }) {
      put.run(request, status, JSON.stringify(headers), toStored(body));
    },
    erase(request) {
      erase.run(request);
    },
  };
}
