/** What a bar is made of, in the order of its parts. Each has a shape of its own: colours are not seen by everybody. */
const shapes = { done: '█', failed: '×', running: '▒', waiting: '·' } as const;
const colours = { done: 32, failed: 31, running: 36, waiting: 90 } as const;

export type BarParts = Readonly<Record<keyof typeof shapes, number>>;

const names = Object.keys(shapes) as (keyof typeof shapes)[];

/** A bar of so many columns. What there is at all is seen: a single failure has a column, and so has the last request. */
export function bar(parts: BarParts, columns: number): string {
  const total = names.reduce((sum, name) => sum + parts[name], 0);
  if (total === 0) return shapes.waiting.repeat(columns);
  const cells = names.map((name) => {
    const share = Math.floor((parts[name] / total) * columns);
    return parts[name] > 0 ? Math.max(1, share) : 0;
  });
  const largest = cells.indexOf(Math.max(...cells));
  const used = cells.reduce((sum, cell) => sum + cell, 0);
  cells[largest] = Math.max(0, (cells[largest] as number) + columns - used);
  return names.map((name, at) => shapes[name].repeat(cells[at] as number)).join('');
}

const all = Object.values(shapes).join('');
const aBar = new RegExp(`(?<= )[${all}]{6,}`);

/** The line with the colours of its bar. They take no columns. */
export function paintedBar(line: string): string {
  return line.replace(aBar, (text) =>
    names.reduce(
      (painted, name) =>
        painted.replace(
          new RegExp(`${shapes[name]}+`),
          (run) => `\u001b[${colours[name]}m${run}\u001b[39m`,
        ),
      text,
    ),
  );
}
