import { Screen } from './screen.ts';
import { type DisplayStream, printable, usesColor, wrapped } from './terminal.ts';

/** Where lines for people go. */
export interface Paper {
  /** Lines that stay. */
  print(...lines: string[]): void;
  /** A few lines that show how things stand, where they can be drawn; others print progress instead. */
  draw?(lines: () => readonly string[]): void;
  /** Nothing is shown any more but what stays. */
  clear?(): void;
}

const label = 'batchling:';

export function plainPaper(stream: DisplayStream): Paper {
  const paint = painter(stream);
  return {
    print: (...lines) => {
      for (const line of lines) stream.write(`${paint(labelled(line))}\n`);
    },
  };
}

export function livePaper(stream: DisplayStream): Paper {
  const screen = new Screen(stream, painter(stream));
  return {
    print: (...lines) =>
      screen.print(lines.flatMap((line) => wrapped(labelled(line), stream.columns ?? 80))),
    draw: (lines) =>
      screen.open(() => {
        const [first = '', ...rest] = lines().map(printable);
        return [labelled(first), ...rest.map((line) => `  ${line}`)];
      }),
    clear: () => screen.close(),
  };
}

function labelled(line: string): string {
  return `${label} ${printable(line)}`;
}

/** Only the label has a colour: it shows whose line it is. */
function painter(stream: DisplayStream): (line: string) => string {
  if (!usesColor(stream)) return (line) => line;
  return (line) =>
    line.startsWith(label) ? `\u001b[36m${label}\u001b[39m${line.slice(label.length)}` : line;
}
