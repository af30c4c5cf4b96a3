const lineFeed = 10;
const carriageReturn = 13;
const byteOrderMark = [0xef, 0xbb, 0xbf] as const;
/** About what a string and `JSON.parse` can take. */
const mostLineBytes = 256 * 1024 * 1024;
const beginningBytes = 200;

/**
 * The lines of a byte stream, in groups: all that one chunk completes. Blank lines are left out. One
 * that is too long to be read is not kept; its beginning stands for it, as a broken line.
 *
 * A line within one chunk is a view of that chunk and keeps all of it alive: read it before the
 * next group, or copy what has to stay. The source must not write into a chunk it has given.
 */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  options: { maxLineBytes?: number } = {},
): AsyncGenerator<readonly Buffer[]> {
  const { maxLineBytes = mostLineBytes } = options;
  // The beginning of a line whose end has not come; joined once, however many chunks it spans.
  let pieces: Buffer[] = [];
  let pieceBytes = 0;
  let isFirst = true;

  function keep(piece: Buffer): void {
    const wasTooLong = pieceBytes > maxLineBytes;
    pieceBytes += piece.length;
    if (wasTooLong) return;
    pieces.push(piece);
    if (pieceBytes <= maxLineBytes) return;
    pieces = [Buffer.concat(pieces, Math.min(pieceBytes, beginningBytes))];
  }

  function finish(last: Buffer): Buffer {
    let whole = last;
    if (pieceBytes + last.length > maxLineBytes) {
      keep(last);
      whole = pieces[0] as Buffer;
    } else if (pieces.length > 0) {
      whole = Buffer.concat([...pieces, last]);
    }
    const line = trimmed(whole, isFirst);
    pieces = [];
    pieceBytes = 0;
    isFirst = false;
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
    if (start < chunk.length) keep(chunk.subarray(start));
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
  for (const byte of line) {
    if (byte !== 0x20 && byte !== 0x09 && byte !== carriageReturn) return false;
  }
  return true;
}
