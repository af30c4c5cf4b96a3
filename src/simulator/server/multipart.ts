export interface PartHead {
  name: string;
  filename: string | null;
  /** The type that the part names; null where it names none. */
  contentType: string | null;
}

/** Called once per part; what it returns receives the part's bytes as they come. */
export type OnPart = (head: PartHead) => (bytes: Buffer) => void;

export class MultipartError extends Error {}

const headEnd = Buffer.from('\r\n\r\n');
const largestHead = 16 * 1024;

/**
 * Reads multipart/form-data while it arrives. Nothing is kept here but the few bytes at the
 * end of a chunk that may be the beginning of a delimiter.
 */
export async function readMultipart(
  source: AsyncIterable<Buffer>,
  boundary: string,
  onPart: OnPart,
): Promise<void> {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // The very first delimiter has no line break before it; this makes it look like the others.
  let rest: Buffer = Buffer.from('\r\n');
  let state: 'preamble' | 'after-delimiter' | 'head' | 'data' | 'end' = 'preamble';
  let deliver: (bytes: Buffer) => void = () => {};

  for await (const chunk of source) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let hungry = false;
    while (!hungry && state !== 'end') {
      switch (state) {
        case 'preamble':
        case 'data': {
          const at = rest.indexOf(delimiter);
          const safe = at >= 0 ? at : rest.length - possibleStart(rest, delimiter);
          if (state === 'data' && safe > 0) deliver(rest.subarray(0, safe));
          rest = rest.subarray(at >= 0 ? at + delimiter.length : safe);
          if (at >= 0) state = 'after-delimiter';
          else hungry = true;
          break;
        }
        case 'after-delimiter':
          if (rest.length < 2) {
            hungry = true;
          } else {
            state = stateAfter(rest.toString('latin1', 0, 2));
            // The line break stays: a part without headers has nothing else before its end.
          }
          break;
        case 'head': {
          const at = rest.indexOf(headEnd);
          if (at < 0 && rest.length > largestHead) throw new MultipartError('Part head too large');
          if (at < 0) {
            hungry = true;
          } else {
            deliver = onPart(parseHead(rest.toString('utf8', 0, at)));
            rest = rest.subarray(at + headEnd.length);
            state = 'data';
          }
        }
      }
    }
    if (state === 'end') rest = Buffer.alloc(0);
  }
  if (state !== 'end') throw new MultipartError('Unexpected end of multipart data');
}

function stateAfter(two: string): 'head' | 'end' {
  if (two === '--') return 'end';
  if (two === '\r\n') return 'head';
  throw new MultipartError('Malformed multipart delimiter');
}

/** How many bytes at the end could be the beginning of a delimiter. */
function possibleStart(bytes: Buffer, delimiter: Buffer): number {
  const from = Math.max(0, bytes.length - delimiter.length + 1);
  for (let at = bytes.indexOf(0x0d, from); at >= 0; at = bytes.indexOf(0x0d, at + 1)) {
    const length = bytes.length - at;
    if (bytes.compare(delimiter, 0, length, at) === 0) return length;
  }
  return 0;
}

function parseHead(head: string): PartHead {
  const disposition = /content-disposition:([^\r\n]*)/i.exec(head)?.[1] ?? '';
  const name = parameter(disposition, 'name');
  if (name === null) throw new MultipartError('Part without a name');
  const contentType = /content-type:\s*([^\r\n]+)/i.exec(head)?.[1] ?? null;
  return { name, filename: parameter(disposition, 'filename'), contentType };
}

function parameter(disposition: string, name: string): string | null {
  const found = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]+))`, 'i').exec(
    disposition,
  );
  const value = found?.[1] ?? found?.[2];
  if (value === undefined) return null;
  return value.replace(/\\(["\\])/g, '$1').replace(/%22|%0D|%0A/gi, decodeURIComponent);
}

/** The boundary of a `multipart/form-data` content type, or null. */
export function boundaryOf(contentType: string | undefined): string | null {
  if (!/^multipart\/form-data\b/i.test(contentType ?? '')) return null;
  const found = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType ?? '');
  return found?.[1] ?? found?.[2] ?? null;
}
