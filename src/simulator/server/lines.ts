import type { Clockwork } from '../world/clockwork.ts';

const newline = 0x0a;
const chunkSize = 64 * 1024;

/** The non-empty lines of a file that is held in chunks, with their number from 1 up. */
export function* readLines(chunks: readonly Buffer[]): Generator<{ line: number; text: string }> {
  let line = 0;
  let head: Buffer[] = [];
  const take = function* (tail: Buffer) {
    line += 1;
    const text = Buffer.concat([...head, tail])
      .toString('utf8')
      .trim();
    head = [];
    if (text !== '') yield { line, text };
  };
  for (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, start)) {
      yield* take(chunk.subarray(start, at));
      start = at + 1;
    }
    if (start < chunk.length) head.push(chunk.subarray(start));
  }
  if (head.length > 0) yield* take(Buffer.alloc(0));
}

export function countLines(chunks: readonly Buffer[]): number {
  let count = 0;
  for (const _line of readLines(chunks)) count += 1;
  return count;
}

/** Writes lines into chunks of a convenient size, slice by slice. */
export async function toChunks(lines: readonly string[], clock: Clockwork): Promise<Buffer[]> {
  const pause = clock.slices();
  const chunks: Buffer[] = [];
  let text = '';
  for (const line of lines) {
    text += `${line}\n`;
    if (text.length < chunkSize) continue;
    chunks.push(Buffer.from(text));
    text = '';
    await pause();
  }
  if (text !== '') chunks.push(Buffer.from(text));
  return chunks;
}
