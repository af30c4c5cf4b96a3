import type { Ledger } from '../ledger.ts';
import { type SummaryRow, selectSummaries, statesOf, summarise } from './batch-summary.ts';
import { BATCH } from './codes.ts';
import { averageOutput } from './costs.ts';
import { type CostsRow, daysOf, readCosts, selectCosts } from './daily-costs.ts';
import type { SqlReader } from './view/sql-view.ts';

/** Reads that are one statement in every SQL ledger. `answered`: SQL for how many answers a batch has. */
export function sqlReads(
  rows: SqlReader['rows'],
  answered: string,
): Pick<Ledger, 'averageOutput' | 'costs' | 'list' | 'show'> {
  const select = selectSummaries(answered);
  return {
    async averageOutput({ provider, endpoint, model }) {
      const of = [provider, endpoint, model];
      const [row] = await rows<{ average: number | null }>(averageOutput, of);
      return row?.average ?? undefined;
    },
    async costs(query) {
      return readCosts(await rows<CostsRow>(selectCosts(query), daysOf(query)), query);
    },
    async list({ open, limit = Number.MAX_SAFE_INTEGER } = {}) {
      const found = await rows<SummaryRow>(
        `${select} WHERE state BETWEEN ? AND ? ORDER BY batch.id DESC LIMIT ?`,
        [...statesOf(open), limit],
      );
      return found.map(summarise);
    },
    async show(id) {
      const [row] = await rows<SummaryRow>(
        `${select} WHERE (token = ? OR remote_id = ?) AND state <> ${BATCH.planning}
         ORDER BY batch.id DESC LIMIT 1`,
        [id, id],
      );
      return row && summarise(row);
    },
  };
}
