import type { BatchTime } from '../ledger.ts';
import { BATCH } from './codes.ts';

/**
 * How many of the newest batches are looked at, of those that have ended and of those under way: providers become faster
 * and slower over time. Each kind has its own number, or a fleet with many batches under way would not know what is usual.
 */
export const mostBatchTimes = 100;

/** A batch with fewer answers than this share of its requests was cut off: its end says nothing about its time. */
export const leastAnswered = 0.9;

export interface BatchTimeRow extends Omit<BatchTime, 'age' | 'duration'> {
  readonly accepted_at: number;
  readonly ended_at: number | null;
}

/** SQL: the newest batches with a time, among those that a condition on `batch` names. */
export function selectBatchTimes(condition: string): string {
  const newest = (state: string, order: string) => `
    SELECT * FROM (
      SELECT batch.id AS batch, token, queue.provider AS provider, model, count, accepted_at, ended_at
      FROM batch JOIN queue ON queue.id = batch.queue
      WHERE ${condition} AND accepted_at IS NOT NULL AND ${state} ORDER BY ${order} DESC LIMIT ${mostBatchTimes}
    ) AS newest`;
  // Few batches are open: the sign keeps SQLite from reading all others in their order to find them.
  const open = newest(`state < ${BATCH.ended} AND state = ${BATCH.accepted}`, '+batch.id');
  const hasAnswers = `failure IS NULL AND answered >= count * ${leastAnswered}`;
  const ended = newest(`state = ${BATCH.ended} AND ${hasAnswers}`, 'batch.id');
  return `SELECT * FROM (${open} UNION ALL ${ended}) AS times ORDER BY batch DESC`;
}

/** SQL: the batches of a model, by where the provider and the model stand. */
export const ofModel = (provider: string, model: string) =>
  `batch.queue IN (SELECT id FROM queue WHERE provider = ${provider} AND model = ${model})`;

/** Neither is negative, although the clock may have been set back since. */
export function batchTime(row: BatchTimeRow, now: number): BatchTime {
  const { token, provider, model, count, accepted_at: acceptedAt, ended_at: endedAt } = row;
  const age = Math.max(0, now - acceptedAt);
  const duration = endedAt === null ? undefined : Math.max(0, endedAt - acceptedAt);
  return { token, provider, model, count, age, ...(duration !== undefined && { duration }) };
}
