import { UnknownOutcomeError } from '../errors.ts';

const lineFeed = 10;
const carriageReturn = 13;
const byteOrderMark = [0xef, 0xbb, 0xbf] as const;

/**
 * The lines of a byte stream, in groups: all that one chunk completes. Blank lines are left out.
 *
 * A line within one chunk is a view of that chunk and keeps all of it alive: read it before the
 * next group, or copy what has to stay. The source must not write into a chunk it has given.
 */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  options: { maxLineBytes?: number } = {},
): AsyncGenerator<readonly Buffer[]> {
  const { maxLineBytes = 64 * 1024 * 1024 } = options;
  // The beginning of a line whose end has not come; joined once, however many chunks it spans.
  let pieces: Buffer[] = [];
  let pieceBytes = 0;
  let lineNumber = 1;

  function check(bytes: number): void {
    if (bytes <= maxLineBytes) return;
    throw new UnknownOutcomeError(
      `Line ${lineNumber} is longer than ${maxLineBytes} bytes.`,
      undefined,
      { line: lineNumber, maxLineBytes },
    );
  }

  function finish(last: Buffer): Buffer {
    check(pieceBytes + last.length);
    const whole = pieces.length === 0 ? last : Buffer.concat([...pieces, last]);
    const line = trimmed(whole, lineNumber === 1);
    pieces = [];
    pieceBytes = 0;
    lineNumber += 1;
    return line;
  }

  for await (const given of chunks) {
    // A Buffer, because its indexOf is several times as fast as that of Uint8Array.
    const chunk = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      const line = finish(chunk.subarray(start, end));
      if (!isBlank(line)) lines.push(line);
      start = end + 1;
    }
    if (start < chunk.length) {
      pieces.push(chunk.subarray(start));
      pieceBytes += chunk.length - start;
      check(pieceBytes);
    }
    if (lines.length > 0) yield lines;
  }
  const last = finish(Buffer.alloc(0));
  if (!isBlank(last)) yield [last];
}

function trimmed(line: Buffer, first: boolean): Buffer {
  const start = first && byteOrderMark.every((byte, index) => line[index] === byte) ? 3 : 0;
  const end = line[line.length - 1] === carriageReturn ? line.length - 1 : line.length;
  return start === 0 && end === line.length ? line : line.subarray(start, Math.max(start, end));
}

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === carriageReturn);
}
