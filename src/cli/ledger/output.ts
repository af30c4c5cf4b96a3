import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Prints to stdout, and waits where its reader is slow. */
export async function print(text: string): Promise<void> {
  await writeTo(process.stdout, `${text}\n`);
}

export function printJson(value: unknown): Promise<void> {
  return print(JSON.stringify(value));
}

export async function writeTo(stream: Writable, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain');
}

/** For people: what goes on, beside the output of the command. */
export function note(text: string): void {
  process.stderr.write(`batchling: ${text}\n`);
}

/** The width to print for. What is no terminal has none, and gets everything. */
export function columns(): number {
  return process.stdout.isTTY ? Math.max(40, process.stdout.columns) : Infinity;
}
