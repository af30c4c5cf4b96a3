import type { Answer } from '../../../base/types.ts';
import type { Ledger, RequestId } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import { inSlices } from '../../sql/slices.ts';
import type { Store } from '../connection/store.ts';
import { type BlockId, prepareAnswers } from './answers.ts';
import type { NewAnswers } from './new-answers.ts';

/** Blocks of answers are decoded, which takes long. */
const ROWS_PER_READ = 250;

interface Row {
  readonly id: RequestId;
  readonly state: number;
  readonly batch: number | null;
  readonly answer: BlockId | null;
}

/** Answers that the rows do not name yet are entered first, batch by batch. */
export function prepareReadAnswers(store: Store, newAnswers: NewAnswers): Ledger['answers'] {
  const answers = prepareAnswers(store);
  const select = store.prepare(
    `SELECT request.id, state, batch, answer FROM json_each(?) AS asked
     CROSS JOIN request ON request.id = asked.value`,
  );
  const find = (requests: readonly RequestId[]) => select.all(JSON.stringify(requests)) as Row[];

  const enterNew = async (requests: readonly RequestId[]) => {
    const rows = await store.read(() => find(requests));
    const open = rows.filter(({ state }) => state === REQUEST.planned);
    for (const batch of new Set(open.map((row) => row.batch))) {
      if (batch !== null) await newAnswers.enter(batch);
    }
    return open.length > 0 ? undefined : rows;
  };
  return async (requests) => {
    const found = new Map<RequestId, Answer>();
    const slice = async (some: readonly RequestId[]) => {
      const seen = await enterNew(some);
      await store.read(() => {
        const answerOf = answers.finder();
        for (const row of seen ?? find(some)) {
          const answer = answerOf(row);
          if (answer) found.set(row.id, answer);
        }
      });
    };
    await inSlices(requests, slice, { rows: ROWS_PER_READ });
    return found;
  };
}
