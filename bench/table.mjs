const heads = ['', 'base', 'batchling', 'ratio', 'budget', ''];

/**
 * Rows of `{ what, unit, base, ours, budget?, most?, ratio? }`. `budget` bounds the ratio, `most` the
 * number itself; `ratio: false` shows the difference.
 */
export function formatTable(rows) {
  const cells = [heads, ...rows.map(cellsOf)];
  const widths = heads.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]),
      )
      .join('  ')
      .trimEnd(),
  );
  const [first, ...rest] = lines;
  return [first, '-'.repeat(Math.max(...lines.map((line) => line.length))), ...rest].join('\n');
}

function cellsOf({ what, unit, base, ours, budget, most, ratio = true }) {
  const times = ours / base;
  return [
    what,
    `${number(base)} ${unit}`,
    `${number(ours)} ${unit}`,
    ratio ? `${times.toFixed(2)}x` : `+${number(ours - base)} ${unit}`,
    limit({ unit, base, budget, most, ratio }),
    budget === undefined && most === undefined
      ? ''
      : times <= (budget ?? Infinity) && ours <= (most ?? Infinity)
        ? 'ok'
        : 'over',
  ];
}

function limit({ unit, base, budget, most, ratio }) {
  if (budget !== undefined) return `${budget.toFixed(2)}x`;
  if (most === undefined) return '';
  return ratio ? `${number(most)} ${unit}` : `+${number(most - base)} ${unit}`;
}

function number(value) {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
