import headless from '@xterm/headless';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** A new size, once so much was written. */
export interface Resize extends Size {
  readonly at: number;
}

/** What a terminal shows: each row of its screen, and before them the lines that went out at its top. */
export interface Shown {
  readonly screen: readonly string[];
  /** Screen and lines before it, without empty lines at the end; broken lines are joined. */
  readonly text: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
  /** Lines that one line feed at the last row moves; less than all where a scroll region was left behind. */
  readonly scrolls: number;
}

/** Writes everything to the emulator that VS Code uses, with changes of its size in between. */
export async function replay(
  written: string,
  { columns, rows }: Size,
  resizes: readonly Resize[] = [],
): Promise<Shown> {
  const terminal = new headless.Terminal({
    cols: columns,
    rows,
    scrollback: 5_000,
    allowProposedApi: true,
  });
  const write = (text: string) => new Promise<void>((resolve) => terminal.write(text, resolve));
  let from = 0;
  for (const { at, columns: width, rows: height } of resizes) {
    await write(written.slice(from, at));
    terminal.resize(width, height);
    from = at;
  }
  await write(written.slice(from));
  const buffer = terminal.buffer.active;
  const cursor = { row: buffer.cursorY, column: buffer.cursorX };
  const rowAt = (at: number) => buffer.getLine(at)?.translateToString(true) ?? '';
  const screen = Array.from({ length: terminal.rows }, (_, at) => rowAt(buffer.baseY + at));
  const text: string[] = [];
  for (let at = 0; at < buffer.length; at += 1) {
    if (buffer.getLine(at)?.isWrapped && text.length > 0) text[text.length - 1] += rowAt(at);
    else text.push(rowAt(at));
  }
  while (text.length > 0 && text.at(-1) === '') text.pop();
  await write(`\u001b[${terminal.rows};1H`);
  const before = buffer.baseY;
  await write('\n');
  const scrolls = buffer.baseY - before;
  terminal.dispose();
  return { screen, text, cursor, scrolls };
}
