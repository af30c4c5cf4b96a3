import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { printable, unprintable } from '../../report/terminal/terminal.ts';

/**
 * Prints lines to stdout, and waits where its reader is slow. Names in them come from clients and providers: they
 * cannot end a line, nor control the terminal.
 */
export async function print(lines: string | readonly string[]): Promise<void> {
  const text = [lines].flat().map((line) => `${printable(line)}\n`);
  await writeTo(process.stdout, text.join(''));
}

export function printJson(value: unknown): Promise<void> {
  return writeTo(process.stdout, `${jsonText(value)}\n`);
}

/** JSON in which all control characters are escaped, and not only those that have to be. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(unprintable, (run) =>
    [...run].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  );
}

export async function writeTo(stream: Writable, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain');
}

/** Tells people on stderr what goes on; stdout is the output of the command. */
export function note(text: string): void {
  process.stderr.write(`batchling: ${printable(text)}\n`);
}

/** The width to print for. A file or a pipe has none, and gets everything. */
export function columns(): number {
  return process.stdout.isTTY ? Math.max(40, process.stdout.columns) : Infinity;
}
