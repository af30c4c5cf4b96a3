import type { Dict } from '../../types.ts';
import { ChunkedBody } from '../node-http/chunked-body.ts';

/** The first lines of a request. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  /** Lower-case names; a name that comes twice has its values joined. */
  readonly headers: Dict;
  /** In bytes, with the empty line. */
  readonly size: number;
}

/** Reads one HTTP/1.1 request in the pieces in which its client writes it. */
export class RequestReader {
  head: RequestHead | undefined;
  #pieces: Buffer[] = [];
  #size = 0;
  #length = 0;
  #chunked: ChunkedBody | undefined;
  #broken = false;

  get state(): 'head' | 'body' | 'complete' | 'broken' {
    if (this.#broken || this.#chunked?.state === 'broken') return 'broken';
    if (this.head === undefined) return 'head';
    const complete = this.#chunked
      ? this.#chunked.state === 'complete'
      : this.#size - this.head.size >= this.#length;
    return complete ? 'complete' : 'body';
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#size += piece.length;
    if (this.head === undefined) this.#readHead();
    else this.#chunked?.add(piece);
  }

  /** Every byte so far, as it came. */
  get bytes(): Buffer {
    if (this.#pieces.length !== 1) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0] as Buffer;
  }

  get body(): Buffer {
    if (this.#chunked) return Buffer.concat(this.#chunked.pieces);
    const start = this.head?.size ?? 0;
    return this.bytes.subarray(start, start + this.#length);
  }

  #readHead(): void {
    const { bytes } = this;
    const end = bytes.indexOf('\r\n\r\n');
    if (end < 0) return;
    this.head = parseHead(bytes.toString('latin1', 0, end));
    const coding = this.head?.headers['transfer-encoding'];
    const length = this.head?.headers['content-length'] ?? '0';
    // Codings on top of it, two lengths: nothing that a client of an LLM sends.
    const isKnown = (coding ?? 'chunked').toLowerCase() === 'chunked' && /^\d+$/.test(length);
    this.#broken = this.head === undefined || !isKnown;
    this.#length = Number(length);
    if (coding === undefined || this.#broken) return;
    this.#chunked = new ChunkedBody();
    this.#chunked.add(bytes.subarray(end + 4));
  }
}

/** `undefined` when it is none. */
function parseHead(text: string): RequestHead | undefined {
  const [first = '', ...lines] = text.split('\r\n');
  const [, method, path] = /^([^ ]+) ([^ ]+) HTTP\/1\.1$/.exec(first) ?? [];
  if (method === undefined || path === undefined) return undefined;
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 1) return undefined;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value;
  }
  return { method, path, headers, size: text.length + 4 };
}
