import type { CallLabels, Cost } from './records.ts';

/** What the calls of one day are told apart by in the totals. */
export interface CostLabels extends CallLabels {
  readonly provider: string;
  readonly model: string;
  /** The way that they took to their provider. */
  readonly lane: 'batch' | 'flex' | 'realtime';
}

/** Ordinary calls that were answered, and what each has cost; `undefined`: its answer does not say. */
export interface OrdinaryCosts extends CostLabels {
  readonly costs: readonly (Cost | undefined)[];
}

export interface CostSums {
  /** Answers with a status of 2xx, or with a cost. */
  readonly calls: number;
  /** Calls without a known price: their dollars are missing in the sums. */
  readonly unpriced: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Parts of the input: what came out of the provider's cache, and what went in. */
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly paid: number;
  readonly saved: number;
  /** What the answers with a known price were expected to cost at most, before their batches were sent. */
  readonly estimate: number;
}

export type CostDimension = 'day' | 'provider' | 'model' | 'lane' | 'name' | 'tag';

export interface CostQuery {
  /** What the totals are grouped by; nothing: one row for all of them. */
  readonly by: readonly CostDimension[];
  /** The first and the last day, `2026-11-18`. Days are those of UTC. */
  readonly since?: string;
  readonly until?: string;
}

/** One group of the totals. A call with several tags is in the groups of all of them. */
export interface CostRow extends CostSums {
  /** The labels that were asked for. A name or tag is missing in the group of calls without one. */
  readonly day?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly lane?: CostLabels['lane'];
  readonly name?: string;
  /** `team=search` */
  readonly tag?: string;
  /** The part of `paid` that there is an estimate for. */
  readonly estimated: number;
}

/** The day of a moment. It is that of UTC: processes in several time zones share a ledger. */
export function dayOf(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10);
}

/** The day that an age reaches, counted back from now: all of it belongs to the last 30 days. */
export function firstDayOf(age: number, now: number): string {
  return dayOf(Math.max(0, now - age));
}

/** What calls have cost together, without an estimate. */
export function sumOfCosts(costs: readonly (Cost | undefined)[]): Mutable<CostSums> {
  const sums = noCosts();
  for (const cost of costs) {
    sums.calls += 1;
    if (cost?.paid === undefined) sums.unpriced += 1;
    sums.inputTokens += cost?.inputTokens ?? 0;
    sums.outputTokens += cost?.outputTokens ?? 0;
    sums.cacheReadTokens += cost?.cacheReadTokens ?? 0;
    sums.cacheWriteTokens += cost?.cacheWriteTokens ?? 0;
    sums.paid += cost?.paid ?? 0;
    sums.saved += cost?.saved ?? 0;
  }
  return sums;
}

/** A row of the totals, or the sum of rows that have the same labels. */
export type StoredCosts = Partial<CostLabels> &
  Mutable<CostSums> & { readonly day?: string; estimated?: number };

/** The totals as a query wants them: days in their order, what cost most first. */
export function groupCosts(rows: Iterable<StoredCosts>, { by }: CostQuery): CostRow[] {
  const groups = new Map<string, Mutable<CostRow>>();
  for (const row of rows) {
    for (const labels of labelsOf(row, by)) {
      const key = JSON.stringify(by.map((dimension) => labels[dimension]));
      const group = groups.get(key) ?? { ...labels, ...noCosts(), estimated: 0 };
      groups.set(key, group);
      for (const name of sumNames) group[name] += row[name];
      group.estimated += row.estimated ?? (row.estimate > 0 ? row.paid : 0);
    }
  }
  const compareDays = (one = '', other = '') => (one < other ? -1 : Number(one > other));
  return [...groups.values()].sort(
    (one, other) =>
      compareDays(one.day, other.day) || other.paid - one.paid || other.calls - one.calls,
  );
}

type Labels = Pick<CostRow, CostDimension>;

function labelsOf(row: StoredCosts, by: readonly CostDimension[]): Labels[] {
  const labels: Mutable<Labels> = {};
  for (const dimension of by) {
    if (dimension !== 'tag' && row[dimension])
      Object.assign(labels, { [dimension]: row[dimension] });
  }
  const tags = by.includes('tag') ? Object.entries(row.tags ?? {}) : [];
  return tags.length === 0
    ? [labels]
    : tags.map(([key, value]) => ({ ...labels, tag: `${key}=${value}` }));
}

type Mutable<Type> = { -readonly [Name in keyof Type]: Type[Name] };

function noCosts(): Mutable<CostSums> {
  return {
    calls: 0,
    unpriced: 0,
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    paid: 0,
    saved: 0,
    estimate: 0,
  };
}

export const sumNames = Object.keys(noCosts()) as readonly (keyof CostSums)[];
