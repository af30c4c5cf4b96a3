import type { BatchSummary, QueuePlace } from '../ledger.ts';
import { BATCH, batchState } from './codes.ts';

/** A batch and its queue, as `selectSummaries` selects them. */
export interface SummaryRow
  extends QueuePlace,
    Pick<BatchSummary, 'token' | 'run' | 'count' | 'answered'> {
  readonly state: number;
  readonly name: string | null;
  readonly tags: string;
  readonly remote_id: string | null;
  readonly raw: string | null;
  readonly counts: string | null;
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

/** SQL: all batches. `answered`: SQL for how many answers a batch has. */
export const selectSummaries = (answered: string) => `
  SELECT batch.id AS id, token, state, queue.provider, endpoint, model, base, name, tags, run, remote_id, raw, counts,
    count, ${answered} AS answered, failure, estimate, paid, saved, input_tokens, output_tokens,
    created_at, accepted_at, ended_at
  FROM batch JOIN queue ON queue.id = batch.queue`;

/** The first and the last state of batches that are open, or over, or of all. */
export function statesOf(open: boolean | undefined): [number, number] {
  return [
    open === false ? BATCH.ended : BATCH.planned,
    open === true ? BATCH.accepted : BATCH.released,
  ];
}

export function summarise(row: SummaryRow): BatchSummary {
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
