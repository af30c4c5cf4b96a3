import type { BatchSummary, Ledger } from '../../ledger.ts';
import type { Store } from '../connection/store.ts';
import { BATCH, batchState } from '../schema/codes.ts';

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

const SELECT = `
  SELECT token, state, queue.provider, endpoint, model, base, name, tags, run, remote_id, raw, counts,
    count, answered, failure, estimate, paid, saved, input_tokens, output_tokens,
    created_at, accepted_at, ended_at
  FROM batch JOIN queue ON queue.id = batch.queue`;

export function prepareList(store: Store): Ledger['list'] {
  return async ({ open, limit = null } = {}) => {
    const from = open === false ? BATCH.ended : BATCH.planned;
    const to = open === true ? BATCH.accepted : BATCH.released;
    const rows = await store.read((session) =>
      session.rows<SummaryRow>(
        `${SELECT} WHERE state BETWEEN $1 AND $2 ORDER BY batch.id DESC LIMIT $3`,
        [from, to, limit],
      ),
    );
    return rows.map(summarise);
  };
}

export function prepareShow(store: Store): Ledger['show'] {
  return async (id) => {
    const [row] = await store.read((session) =>
      session.rows<SummaryRow>(
        `${SELECT} WHERE token = $1 OR remote_id = $1 ORDER BY batch.id DESC LIMIT 1`,
        [id],
      ),
    );
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
