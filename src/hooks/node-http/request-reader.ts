import type { Dict } from '../../base/types.ts';

/** The request line and the headers. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  /** Lower-case names; the values of a repeated name are joined. */
  readonly headers: Dict;
  /** In bytes, with the empty line. */
  readonly size: number;
}

/**
 * Reads one HTTP/1.1 request from the pieces that its client writes. Not an `http.Server`: tracers
 * would report a server that the program does not have.
 */
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

  /** The piece is copied: its client may use the memory again once it is taken. */
  add(given: Buffer): void {
    const piece = Buffer.from(given);
    this.#pieces.push(piece);
    this.#size += piece.length;
    if (this.head === undefined) this.#readHead();
    else this.#chunked?.add(piece);
  }

  /** Every byte so far, unchanged. */
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
    // LLM clients send neither other codings nor two lengths: such a request passes through.
    const isKnown = (coding ?? 'chunked').toLowerCase() === 'chunked' && /^\d+$/.test(length);
    this.#broken = this.head === undefined || !isKnown;
    this.#length = Number(length);
    if (coding === undefined || this.#broken) return;
    this.#chunked = new ChunkedBody();
    this.#chunked.add(bytes.subarray(end + 4));
  }
}

/** `undefined`: not the head of an HTTP/1.1 request. */
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

/** Decodes `transfer-encoding: chunked`; extensions and trailers are left out. */
class ChunkedBody {
  readonly pieces: Buffer[] = [];
  state: 'length' | 'data' | 'gap' | 'trailer' | 'complete' | 'broken' = 'length';
  #line = '';
  #left = 0;

  add(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && this.state !== 'complete' && this.state !== 'broken') {
      at = this.state === 'data' ? this.#addData(bytes, at) : this.#addLine(bytes, at);
    }
  }

  #addData(bytes: Buffer, at: number): number {
    const piece = bytes.subarray(at, at + this.#left);
    this.pieces.push(piece);
    this.#left -= piece.length;
    if (this.#left === 0) this.state = 'gap';
    return at + piece.length;
  }

  #addLine(bytes: Buffer, at: number): number {
    const lineFeed = bytes.indexOf('\n', at);
    const stop = lineFeed < 0 ? bytes.length : lineFeed + 1;
    this.#line += bytes.toString('latin1', at, stop);
    if (lineFeed >= 0) {
      this.#endLine(this.#line.trim());
      this.#line = '';
    }
    return stop;
  }

  #endLine(line: string): void {
    if (this.state === 'gap') {
      this.state = line === '' ? 'length' : 'broken';
    } else if (this.state === 'trailer') {
      if (line === '') this.state = 'complete';
    } else {
      const [digits] = /^[\da-f]+(?=;|\s|$)/i.exec(line) ?? [];
      this.#left = Number.parseInt(digits ?? '', 16);
      if (digits === undefined) this.state = 'broken';
      else this.state = this.#left === 0 ? 'trailer' : 'data';
    }
  }
}
