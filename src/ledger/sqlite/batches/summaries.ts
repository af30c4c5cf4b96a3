import type { BatchSummary, Ledger } from '../../ledger.ts';
import type { Store } from '../connection/store.ts';
import { BATCH, batchState, REQUEST } from '../schema/codes.ts';

interface SummaryRow {
  readonly token: string;
  readonly state: number;
  readonly provider: string;
  readonly endpoint: string;
  readonly model: string;
  readonly base: string;
  readonly name: string | null;
  readonly tags: string;
  readonly run: string;
  readonly remote_id: string | null;
  readonly raw: string | null;
  readonly counts: string | null;
  readonly count: number;
  readonly answered: number;
  readonly failure: string | null;
  readonly estimate: number | null;
  readonly paid: number | null;
  readonly saved: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly created_at: number;
  readonly accepted_at: number | null;
  readonly ended_at: number | null;
}

/** Answers that the rows of their requests do not name yet, see `NewAnswers`. */
const NEWLY_ANSWERED = `
  SELECT count(DISTINCT request.id)
  FROM answer_new JOIN answer ON answer.id = answer_new.answer
    CROSS JOIN json_each(answer.request) AS member CROSS JOIN request ON request.id = member.value
  WHERE answer_new.batch = batch.id AND +request.batch = batch.id
    AND request.state = ${REQUEST.planned}`;

const SELECT = `
  SELECT token, state, queue.provider, endpoint, model, base, name, tags, run, remote_id, raw, counts,
    count, answered + (${NEWLY_ANSWERED}) AS answered, failure, estimate, paid, saved,
    input_tokens, output_tokens, created_at, accepted_at, ended_at
  FROM batch JOIN queue ON queue.id = batch.queue`;

export function prepareList(store: Store): Ledger['list'] {
  const list = store.prepare(
    `${SELECT} WHERE state BETWEEN ? AND ? ORDER BY batch.id DESC LIMIT ?`,
  );
  return async ({ open, limit = -1 } = {}) => {
    const from = open === false ? BATCH.ended : BATCH.planned;
    const to = open === true ? BATCH.accepted : BATCH.released;
    const rows = await store.read(() => list.all(from, to, limit));
    return (rows as SummaryRow[]).map(summarise);
  };
}

export function prepareShow(store: Store): Ledger['show'] {
  const find = store.prepare(
    `${SELECT} WHERE (token = ? OR remote_id = ?) AND state <> ${BATCH.planning}
     ORDER BY batch.id DESC LIMIT 1`,
  );
  return async (id) => {
    const row = (await store.read(() => find.get(id, id))) as SummaryRow | undefined;
    return row && summarise(row);
  };
}

function summarise(row: SummaryRow): BatchSummary {
  return {
    token: row.token,
    state: batchState(row.state),
    provider: row.provider,
    endpoint: row.endpoint,
    model: row.model,
    base: row.base,
    ...(row.name !== null && { name: row.name }),
    tags: JSON.parse(row.tags),
    run: row.run,
    ...(row.remote_id !== null && { remoteId: row.remote_id }),
    ...(row.raw !== null && { raw: row.raw }),
    ...(row.counts !== null && { counts: JSON.parse(row.counts) }),
    count: row.count,
    answered: row.answered,
    ...(row.failure !== null && { failure: row.failure }),
    ...costOf(row),
    createdAt: row.created_at,
    ...(row.accepted_at !== null && { acceptedAt: row.accepted_at }),
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
  };
}

function costOf(row: SummaryRow): Pick<BatchSummary, 'cost'> {
  const cost = {
    ...(row.estimate !== null && { estimate: row.estimate }),
    ...(row.paid !== null && { paid: row.paid }),
    ...(row.saved !== null && { saved: row.saved }),
    ...(row.input_tokens !== null && { inputTokens: row.input_tokens }),
    ...(row.output_tokens !== null && { outputTokens: row.output_tokens }),
  };
  return Object.keys(cost).length === 0 ? {} : { cost };
}
