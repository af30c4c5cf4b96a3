import type { CostDimension, CostRow } from '../../ledger/ledger.ts';
import { groupOf } from '../../report/text/cost-groups.ts';
import { dollars, number } from '../../report/text/summary.ts';
import { csvLine } from './csv-line.ts';
import { type Column, table } from './text-table.ts';

/** Lines of a table. Columns of tokens and estimates that say nothing are left out. */
export function costTable(
  rows: readonly CostRow[],
  title: string,
  by: readonly CostDimension[],
  width: number,
): string[] {
  const paid = inDollars(rows.map((row) => (isUnknown(row) ? undefined : row.paid)));
  const saved = inDollars(rows.map((row) => (isUnknown(row) ? undefined : row.saved)));
  const expected = inDollars(
    rows.map(({ estimate }) => (estimate === 0 ? undefined : estimate)),
    '',
  );
  const columns: readonly (Column & { cells: readonly string[]; isUsed?: boolean })[] = [
    { title: title.toUpperCase(), atLeast: 10, cells: rows.map((row) => groupOf(row, by)) },
    { ...right, title: 'CALLS', cells: rows.map(({ calls }) => number(calls)) },
    { ...right, title: 'INPUT', cells: rows.map(({ inputTokens }) => short(inputTokens)) },
    { ...right, title: 'CACHED', ...tokens(rows, 'cacheReadTokens') },
    { ...right, title: 'WRITTEN', ...tokens(rows, 'cacheWriteTokens') },
    { ...right, title: 'OUTPUT', cells: rows.map(({ outputTokens }) => short(outputTokens)) },
    { ...right, title: 'PAID', cells: paid },
    { ...right, title: 'SAVED', cells: saved },
    {
      ...right,
      title: 'ESTIMATE',
      cells: expected,
      isUsed: rows.some(({ estimate }) => estimate > 0),
    },
  ];
  const used = columns.filter(({ isUsed = true }) => isUsed);
  const lines = rows.map((_, index) => used.map(({ cells }) => cells[index] ?? ''));
  return table(used, lines, width);
}

const right = { align: 'right' } as const;

function tokens(rows: readonly CostRow[], name: 'cacheReadTokens' | 'cacheWriteTokens') {
  const cells = rows.map((row) => (row[name] === 0 ? '' : short(row[name])));
  return { cells, isUsed: cells.some((cell) => cell !== '') };
}

/** None of its calls has a known price: that is not $0. */
export function isUnknown({ calls, unpriced }: CostRow): boolean {
  return unpriced === calls;
}

/** Amounts of a column have as many digits as the largest one needs, so that they can be compared. */
function inDollars(amounts: readonly (number | undefined)[], none = 'unknown'): string[] {
  const largest = Math.max(0, ...amounts.map((amount) => Math.abs(amount ?? 0)));
  const digits = dollars(largest).split('.')[1]?.length ?? 2;
  return amounts.map((amount) => {
    if (amount === undefined) return none;
    if (amount === 0) return '$0';
    const smallest = 10 ** -digits;
    if (amount > 0 && amount < smallest) return `<$${smallest.toFixed(digits)}`;
    return `${amount < 0 ? '-' : ''}$${Math.abs(amount).toFixed(digits)}`;
  });
}

/** `950`, `12.3k`, `5.10M`: three digits are enough to compare. */
function short(tokens: number): string {
  if (tokens < 1_000) return String(tokens);
  // Rounded first: 999,700 are a million.
  const rounded = Number(tokens.toPrecision(3));
  const power = Math.min(4, Math.floor(Math.log10(rounded) / 3));
  const value = rounded / 1_000 ** power;
  return `${value.toPrecision(3)}${' kMGT'[power]}`;
}

/** A row for other programs. Dollars that are not known are `null`. */
export function costJson(row: CostRow): object {
  const { calls, unpriced, estimate, estimated, paid, saved, ...rest } = row;
  const known = (amount: number) => (isUnknown(row) ? null : amount);
  const expected = estimate === 0 ? null : { dollars: estimate, paid: estimated };
  return { ...rest, calls, unpriced, paid: known(paid), saved: known(saved), estimate: expected };
}

const csvSums = [
  ...['calls', 'unpriced', 'inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'],
  ...['paid', 'saved', 'estimate', 'estimated'],
] as const;

/** A table of comma-separated values. Dollars that are not known, and estimates that nobody has made, are empty cells. */
export function costCsv(rows: readonly CostRow[], labels: readonly (keyof CostRow)[]): string {
  const columns = [...labels, ...csvSums] as readonly (keyof CostRow)[];
  const isMissing = (row: CostRow, name: keyof CostRow) =>
    name === 'paid' || name === 'saved'
      ? isUnknown(row)
      : (name === 'estimate' || name === 'estimated') && row.estimate === 0;
  const lines = rows.map((row) =>
    columns.map((name) => (isMissing(row, name) ? '' : (row[name] ?? ''))),
  );
  return [columns, ...lines].map(csvLine).join('');
}
