import { dayOf, firstDayOf } from '../../ledger/daily-costs.ts';
import type { CostDimension, CostRow } from '../../ledger/ledger.ts';
import type { LedgerReader } from '../../ledger/view.ts';
import { costGroups, groupOf } from '../../report/text/cost-groups.ts';
import type { CostRowJson, MoneyJson } from '../api-types.ts';
import { oneOf } from './one-of.ts';
import { wholeNumber } from './whole-number.ts';

const day = 86_400_000;
const usualDays = 30;
/** The chart has no room for more, and the sums of more are what `batchling cost` is for. */
const mostDays = 366;

/** What was paid and saved, from the totals behind `batchling cost`. */
export async function readMoney(
  ledger: LedgerReader,
  query: URLSearchParams,
  at: number,
): Promise<MoneyJson> {
  const by = oneOf<readonly CostDimension[]>(costGroups, query.get('by') ?? 'model', 'sum by');
  const count = Math.min(mostDays, Math.max(1, wholeNumber(query, 'days') ?? usualDays));
  const [since, until] = [firstDayOf(count * day, at), dayOf(at)];
  const read = async (asked: readonly CostDimension[]) => {
    const rows = await ledger.costs({ by: asked, since });
    return rows.map((row) => costJson(row, asked));
  };
  const [total] = await read([]);
  return {
    at,
    since,
    until,
    ...(total && { total }),
    days: await read(['day']),
    rows: await read(by),
    lanes: await read(['lane']),
  };
}

function costJson(row: CostRow, by: readonly CostDimension[]): CostRowJson {
  const { calls, unpriced, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = row;
  const { paid, saved, estimate, estimated } = row;
  return {
    label: groupOf(row, by),
    calls,
    unpriced,
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    paid,
    saved,
    estimate,
    estimated,
  };
}
