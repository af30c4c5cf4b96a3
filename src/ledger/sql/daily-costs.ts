import {
  type CostQuery,
  type CostRow,
  groupCosts,
  type StoredCosts,
  sumNames,
  sumOfCosts,
} from '../daily-costs.ts';
import type { BatchId, Cost, OrdinaryCosts, Settlement } from '../ledger.ts';
import type { CallLabels } from '../records.ts';

const LABELS = ['day', 'provider', 'model', 'lane', 'name', 'tags'];

/** The column of a sum: `inputTokens` is `input_tokens`. */
const columnOf = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const SUMS = sumNames.map(columnOf);

interface BatchCosts {
  /** Missing: those of the batch. */
  readonly labels: CallLabels | undefined;
  readonly costs: (Cost | undefined)[];
}

/** What answers of a batch have cost, those that count as calls, by who asked. In one order for all processes. */
export function batchCosts(settlements: readonly Settlement[]): BatchCosts[] {
  const groups = new Map<string, BatchCosts>();
  for (const settlement of settlements) {
    if (settlement.is !== 'answer') continue;
    const { answer, cost, labels } = settlement;
    if (cost === undefined && (answer.status < 200 || answer.status >= 300)) continue;
    const key = labels ? JSON.stringify([labels.name, labels.tags]) : '';
    const group = groups.get(key) ?? { labels, costs: [] };
    groups.set(key, group);
    group.costs.push(cost);
  }
  const sorted = [...groups].sort(([one], [other]) => (one < other ? -1 : 1));
  return sorted.map(([, group]) => group);
}

/** The values of `addBatchCosts`, for each row that answers of a batch are added to. */
export function batchRows(
  day: string,
  batch: BatchId,
  settlements: readonly Settlement[],
): (string | number | null)[][] {
  return batchCosts(settlements).map(({ labels, costs }) => {
    const given = labels ? [labels.name ?? '', JSON.stringify(labels.tags)] : [null, null];
    return [day, ...sumValues(costs), batch, ...given];
  });
}

/** The values of all sums but the estimate, in the order of their columns. */
export function sumValues(costs: readonly (Cost | undefined)[]): number[] {
  const sums = sumOfCosts(costs);
  return sumNames.slice(0, -1).map((name) => sums[name]);
}

/** SQL: adds to the row with these labels. `given`: SQL of its values; `key`: what tells rows apart. */
const addTo = (given: string, key: string) => `
  INSERT INTO daily_cost (${[...LABELS, ...SUMS].join()}) ${given}
  ON CONFLICT (${key}) DO UPDATE SET ${SUMS.map((name) => `${name} = daily_cost.${name} + excluded.${name}`).join()}`;

interface Dialect {
  /** SQL: the nth value of a statement. */
  readonly at: (place: number) => string;
  readonly key: string;
}

/** SQL: adds the sums of answers of a batch. Its values: the day, the sums but the estimate, the batch, and other labels than its own. */
export function addBatchCosts({ at, key }: Dialect): string {
  const sums = SUMS.slice(0, -1).map((_, index) => `CAST(${at(index + 2)} AS double precision)`);
  const [calls, unpriced] = sums;
  return addTo(
    `SELECT ${at(1)}, queue.provider, model, 'batch',
       coalesce(CAST(${at(SUMS.length + 2)} AS text), name, ''),
       coalesce(CAST(${at(SUMS.length + 3)} AS text), tags), ${sums.join()},
       coalesce(estimate / count, 0) * (${calls} - ${unpriced})
     FROM batch JOIN queue ON queue.id = batch.queue WHERE batch.id = ${at(SUMS.length + 1)}`,
    key,
  );
}

/** SQL: adds the sums of ordinary calls. Its values: the labels, and the sums but the estimate. */
export function addOrdinaryCosts({ at, key }: Dialect): string {
  const values = [...LABELS, ...SUMS.slice(0, -1)].map((_, index) => at(index + 1));
  return addTo(`VALUES (${values.join()}, 0)`, key);
}

/** The values of the labels after the day. */
export function ordinaryLabels({
  provider,
  model,
  lane,
  name = '',
  tags,
}: OrdinaryCosts): string[] {
  return [provider, model, lane, name, JSON.stringify(tags)];
}

const columnFor = { tag: 'tags' } as const;

/** SQL: the totals of the days from the first to the second value, as `readCosts` takes them. */
export function selectCosts({ by }: CostQuery): string {
  const labels = by.map((name) => columnFor[name as 'tag'] ?? name);
  const sums = sumNames.map((name, index) => `sum(${SUMS[index]}) AS "${name}"`);
  return `
    SELECT ${[...labels, ...sums].join()},
      sum(CASE WHEN estimate > 0 THEN paid ELSE 0 END) AS estimated
    FROM daily_cost WHERE day >= ? AND day <= ?
    ${labels.length > 0 ? `GROUP BY ${labels.join()}` : 'HAVING count(*) > 0'}`;
}

/** `9` comes after all days. */
export const daysOf = ({ since = '', until = '9' }: CostQuery): [string, string] => [since, until];

export function readCosts(rows: readonly CostsRow[], query: CostQuery): CostRow[] {
  return groupCosts(
    rows.map(
      ({ tags, ...row }): StoredCosts => ({
        ...row,
        ...(tags !== undefined && { tags: JSON.parse(tags) }),
      }),
    ),
    query,
  );
}

export type CostsRow = Omit<StoredCosts, 'tags'> & { readonly tags?: string };
