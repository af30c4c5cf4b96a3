import type { CostDimension, CostRow } from '../../ledger/ledger.ts';

/** What sums of dollars are grouped by, as people call it. A model is named with its provider: two may serve the same one. */
export const costGroups = {
  day: ['day'],
  model: ['provider', 'model'],
  provider: ['provider'],
  name: ['name'],
  tag: ['tag'],
} as const satisfies Readonly<Record<string, readonly CostDimension[]>>;

export type CostGroup = keyof typeof costGroups;

/** The group that a row is the sum of: `openai gpt-5-mini`. Calls without a name or a tag are a group, too. */
export function groupOf(row: CostRow, by: readonly CostDimension[]): string {
  return by.map((dimension) => row[dimension] ?? `(no ${dimension})`).join(' ');
}
