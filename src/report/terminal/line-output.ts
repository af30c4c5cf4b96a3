import { paintedBar } from './bar.ts';
import { LiveBlock } from './live-block.ts';
import { type DisplayStream, printable, usesColor, wrapped } from './terminal.ts';

/** Where the text display writes its lines. */
export interface LineOutput {
  /** Prints lines that stay. */
  print(...lines: string[]): void;
  /** Draws a block of lines again and again. Missing where nothing can be drawn over. */
  draw?(lines: (columns: number) => readonly string[]): void;
  /** Removes the block. */
  clear?(): void;
}

const label = 'batchling:';
const indent = '  ';
/** The columns that the first line of a block has less than the others. */
export const labelColumns = label.length + 1 - indent.length;

export function plainOutput(stream: DisplayStream): LineOutput {
  const paint = painter(stream);
  return {
    print: (...lines) => {
      for (const line of lines) stream.write(`${paint(labelled(line))}\n`);
    },
  };
}

export function liveOutput(stream: DisplayStream): LineOutput {
  const block = new LiveBlock(stream, painter(stream));
  return {
    print: (...lines) =>
      block.print(lines.flatMap((line) => wrapped(labelled(line), stream.columns ?? 80))),
    draw: (lines) => block.open(() => blockLines(lines, stream.columns ?? 80)),
    clear: () => block.close(),
  };
}

/** The last column stays free: some terminals break a line that fills it. */
export function blockLines(
  lines: (columns: number) => readonly string[],
  columns: number,
): readonly string[] {
  const [first, ...rest] = lines(columns - indent.length - 1).map(printable);
  if (first === undefined) return [];
  return [labelled(first), ...rest.map((line) => `${indent}${line}`)];
}

export function labelled(line: string): string {
  return `${label} ${printable(line)}`;
}

const colour = (code: number, text: string) => `\u001b[${code}m${text}\u001b[39m`;

/** Adds the colours: of the label, of a bar, of what was saved and what has failed, of what is in the way. */
export function painter(stream: DisplayStream): (line: string) => string {
  if (!usesColor(stream)) return (line) => line;
  return (line) => {
    if (line.startsWith(`${indent}! `)) return colour(33, line);
    const told = paintedBar(line)
      .replace(/\bsaved \$[\d.]+( \(\d+%\))?/, (text) => colour(32, text))
      .replace(/\b[\d,]+ failed\b/, (text) => colour(31, text));
    return told.startsWith(label) ? colour(36, label) + told.slice(label.length) : told;
  };
}
