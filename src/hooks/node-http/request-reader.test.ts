import { describe, expect, it } from 'vitest';
import fc from '../../../test/support/fast-check.ts';
import { RequestReader } from './request-reader.ts';

function read(...pieces: (string | Buffer)[]): RequestReader {
  const reader = new RequestReader();
  for (const piece of pieces) reader.add(Buffer.from(piece as string, 'latin1'));
  return reader;
}

const head = 'POST /v1/x?y=1 HTTP/1.1\r\nHost: llm.example\r\nX-Two: a\r\nx-two:  b \r\n';

describe('the head of a request', () => {
  it('is read when its empty line is there', () => {
    const reader = read(head);
    expect([reader.state, reader.head]).toEqual(['head', undefined]);
    reader.add(Buffer.from('\r\n'));
    expect(reader.head).toEqual({
      method: 'POST',
      path: '/v1/x?y=1',
      headers: { host: 'llm.example', 'x-two': 'a, b' },
      size: head.length + 2,
    });
  });

  it('may hold names that objects have by themselves', () => {
    const reader = read('POST / HTTP/1.1\r\nConstructor: 1\r\ntoString: 2\r\n\r\n');
    expect(reader.head?.headers).toEqual({ constructor: '1', tostring: '2' });
  });

  it.each([
    ['is no request', 'hello\r\n\r\n'],
    ['has a line without a name', 'POST / HTTP/1.1\r\nnothing\r\n\r\n'],
    ['has two lengths', 'POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
    ['has an unknown coding', 'POST / HTTP/1.1\r\ntransfer-encoding: gzip, chunked\r\n\r\n'],
  ])('that %s is broken, and all its bytes are there', (_what, text) => {
    const reader = read(text);
    expect(reader.state).toBe('broken');
    expect(reader.bytes.toString('latin1')).toBe(text);
  });
});

describe('the body of a request', () => {
  it('is empty where nothing is said of it', () => {
    const reader = read(`${head}\r\n`);
    expect([reader.state, reader.body.length]).toEqual(['complete', 0]);
  });

  it('is as long as the head says', () => {
    const reader = read(`${head}Content-Length: 5\r\n\r\nab`, 'c');
    expect(reader.state).toBe('body');
    reader.add(Buffer.from('de'));
    expect([reader.state, reader.body.toString()]).toEqual(['complete', 'abcde']);
  });

  it('comes in chunks, with extensions and trailers', () => {
    const chunks = '3;name=x\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n';
    const reader = read(`${head}Transfer-Encoding: Chunked\r\n\r\n${chunks}`);
    expect([reader.state, reader.body.toString()]).toEqual(['complete', 'abc0123456789']);
    expect(reader.bytes.toString()).toContain(chunks);
  });

  it.each(['xyz\r\n', '\r\n', '3\r\nabcd\r\n', '-1\r\n'])(
    'is broken when its chunks are: %j',
    (chunks) => {
      const reader = read(`${head}transfer-encoding: chunked\r\n\r\n${chunks}`);
      expect(reader.state).toBe('broken');
      expect(reader.bytes.toString().endsWith(chunks)).toBe(true);
    },
  );

  it('does not depend on where its pieces are cut', () => {
    const cuts = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 12 });
    const data = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 6 });
    const isSame = fc.property(data, cuts, (chunks, places) => {
      const content = Buffer.concat(chunks);
      const framed = chunks.map((chunk) =>
        Buffer.concat([
          Buffer.from(`${chunk.length.toString(16)}\r\n`),
          chunk,
          Buffer.from('\r\n'),
        ]),
      );
      const codings: [string, Buffer][] = [
        [`content-length: ${content.length}`, content],
        ['transfer-encoding: chunked', Buffer.concat([...framed, Buffer.from('0\r\n\r\n')])],
      ];
      for (const [line, body] of codings) {
        const whole = Buffer.concat([Buffer.from(`${head}${line}\r\n\r\n`), body]);
        const reader = new RequestReader();
        let from = 0;
        for (const to of [...places.sort((a, b) => a - b), whole.length]) {
          if (reader.state !== 'complete') expect(reader.state).not.toBe('broken');
          reader.add(whole.subarray(from, Math.max(from, to)));
          from = Math.max(from, to);
        }
        expect(reader.state).toBe('complete');
        expect(reader.body.equals(content)).toBe(true);
        expect(reader.bytes.equals(whole)).toBe(true);
      }
    });
    fc.assert(isSame, { numRuns: 200 });
  });
});
