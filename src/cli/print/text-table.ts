/** A column of a printed table. */
export interface Column {
  readonly title: string;
  readonly align?: 'right';
  /** It may be cut down to this width where the table is too wide. */
  readonly atLeast?: number;
}

const gap = '  ';

/** Lines of a table that fits into `width`. Columns that may be cut are cut from the last one on. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...rows.map((row) => (row[index] ?? '').length)),
  );
  let excess = sum(widths) + gap.length * (columns.length - 1) - width;
  for (let index = columns.length - 1; index >= 0 && excess > 0; index -= 1) {
    const { atLeast } = columns[index] as Column;
    if (atLeast === undefined) continue;
    const cut = Math.min(excess, Math.max(0, (widths[index] as number) - atLeast));
    widths[index] = (widths[index] as number) - cut;
    excess -= cut;
  }
  const line = (cells: readonly string[]) =>
    columns
      .map(({ align }, index) => {
        const space = widths[index] as number;
        const text = shorten(cells[index] ?? '', space);
        return align === 'right' ? text.padStart(space) : text.padEnd(space);
      })
      .join(gap)
      .trimEnd();
  return [line(columns.map(({ title }) => title)), ...rows.map(line)];
}

/** The text on one line, cut to a number of characters. */
export function shorten(text: string, most: number): string {
  const plain = text.replace(/\s+/g, ' ').trim();
  return plain.length <= most ? plain : `${plain.slice(0, Math.max(0, most - 1))}…`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
