/** Takes a body apart that comes in chunks, each behind its length; extensions and trailers are left out. */
export class ChunkedBody {
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
