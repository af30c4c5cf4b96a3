import { nextTurn } from '../../../concurrency/event-loop.ts';
import type { Ledger, OwnerId, OwnerInfo, RequestId } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import {
  type FoundAnswer,
  type SqlReader,
  type SqlValue,
  sqlView,
} from '../../sql/view/sql-view.ts';
import type { LedgerView } from '../../view.ts';
import { type BlockId, prepareAnswers } from '../answers/answers.ts';
import type { NewRow } from '../batches/read-members.ts';
import type { Statement } from '../connection/driver.ts';
import type { Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';

/** How many answers are decoded in one slice. */
const answersAtOnce = 100;
/** Blocks of answers that are errors are looked at from the newest on. */
const mostBlocks = 2_000;

interface AnswerRow {
  readonly id: RequestId;
  readonly state: number;
  readonly answer: BlockId | null;
}

/** Statements are kept by their text: texts differ by the numbers of their values, so they are few, but no fixed set. */
export function prepareRows(store: Store): SqlReader['rows'] {
  const statements = new Map<string, Statement>();
  const prepared = (sql: string) => {
    const statement = statements.get(sql) ?? store.prepare(sql);
    if (statements.size > 200) statements.clear();
    statements.set(sql, statement);
    return statement;
  };
  return async <Row>(sql: string, values: readonly SqlValue[] = []) => {
    const found = (await store.read(() => prepared(sql).all(...values))) as Row[];
    await nextTurn();
    return found;
  };
}

export function sqliteView(
  store: Store,
  owners: Owners,
  bodies: Ledger['bodies'],
  rows: SqlReader['rows'],
): LedgerView {
  return sqlView({
    rows,
    answers: prepareFoundAnswers(store, rows),
    async newOutcomes(batch) {
      const found = await rows<{ state: number; count: number }>(
        'SELECT state, sum(count) AS count FROM answer_new WHERE batch = ? GROUP BY state',
        [batch],
      );
      const of = (state: number) => found.find((row) => row.state === state)?.count ?? 0;
      return { answered: of(REQUEST.answered), failed: of(REQUEST.failed) };
    },
    async failedIds(limit) {
      const blocks = await rows<{ requests: string }>(
        `SELECT request AS requests FROM answer WHERE status NOT BETWEEN 200 AND 299
         ORDER BY id DESC LIMIT ?`,
        [Math.min(limit, mostBlocks)],
      );
      const ids = blocks.flatMap(({ requests }) => JSON.parse(requests) as RequestId[]);
      return [...new Set(ids)].sort((a, b) => b - a).slice(0, limit);
    },
    async alikeIds(id) {
      const prefix = `(SELECT substr(fp, 1, 6) FROM request WHERE id = ?)`;
      const found = await rows<{ request: RequestId }>(
        `SELECT request FROM identity_new WHERE prefix = ${prefix}
         UNION SELECT request FROM identity WHERE prefix = ${prefix} LIMIT 1000`,
        [id, id],
      );
      return found.map(({ request }) => request);
    },
    inNoBatch: `state = ${REQUEST.admitted} AND batch IS NULL`,
    // The event loop stands still meanwhile.
    waitingAtOnce: 5_000,
    livingOwners: (ids) =>
      store.read(() => {
        const ownerOf = owners.living();
        const living = new Map<OwnerId, OwnerInfo>();
        for (const id of ids) {
          const owner = ownerOf(id);
          if (owner) living.set(id, owner);
        }
        return living;
      }),
    bodies,
    changed: () => store.changed(),
  });
}

/** Answers that their rows do not name yet are in blocks of their batch: see `NewAnswers`. They are left there. */
function prepareFoundAnswers(store: Store, rows: SqlReader['rows']): SqlReader['answers'] {
  const answers = prepareAnswers(store);
  const newOf = (batch: number) =>
    rows<NewRow>(
      `SELECT answer_new.answer AS block, answer_new.state, answer_new.at, answer.request AS requests
       FROM answer_new JOIN answer ON answer.id = answer_new.answer
       WHERE answer_new.batch = ? ORDER BY answer_new.id DESC`,
      [batch],
    );
  return async (asked) => {
    const found = new Map<RequestId, FoundAnswer>();
    const late = new Map<RequestId, NewRow>();
    const open = asked.filter(({ state }) => state === REQUEST.planned);
    for (const batch of new Set(open.map((row) => row.batch))) {
      if (batch === null) continue;
      // The oldest of several answers counts, and comes last.
      for (const row of await newOf(batch)) {
        for (const id of JSON.parse(row.requests) as RequestId[]) late.set(id, row);
      }
    }
    for (let at = 0; at < asked.length; at += answersAtOnce) {
      const ids = asked.slice(at, at + answersAtOnce).map(({ id }) => id);
      const named = await rows<AnswerRow>(
        `SELECT id, state, answer FROM request WHERE id IN (${ids.map(() => '?').join()})`,
        ids,
      );
      await store.read(() => {
        const answerOf = answers.finder();
        for (const row of named) {
          const fresh = row.state === REQUEST.planned ? late.get(row.id) : undefined;
          const answer = answerOf(fresh ? { id: row.id, answer: fresh.block } : row);
          if (!answer) continue;
          const { state, at: since } = fresh ?? {};
          const moved = state !== undefined && since !== undefined && { state, at: since };
          found.set(row.id, { answer, ...moved });
        }
      });
    }
    return found;
  };
}
