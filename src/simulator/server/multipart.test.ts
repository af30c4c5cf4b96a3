import { expect, it } from 'vitest';
import fc from '../../../test/support/fast-check.ts';
import { boundaryOf, MultipartError, readMultipart } from './multipart.ts';

interface Part {
  name: string;
  filename: string | null;
  bytes: Buffer;
}

const boundary = 'AaB03x';

function write(parts: Part[]): Buffer {
  const pieces = parts.flatMap(({ name, filename, bytes }) => {
    const file = filename === null ? '' : `; filename="${filename}"`;
    const head =
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n` +
      'Content-Type: application/octet-stream\r\n\r\n';
    return [Buffer.from(head), bytes, Buffer.from('\r\n')];
  });
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

async function* cut(bytes: Buffer, sizes: number[]): AsyncGenerator<Buffer> {
  let start = 0;
  for (let at = 0; start < bytes.length; at++) {
    const size = sizes[at % sizes.length] ?? 1;
    yield bytes.subarray(start, start + size);
    start += size;
  }
}

async function read(source: AsyncIterable<Buffer>): Promise<Part[]> {
  const parts: Array<Part & { chunks: Buffer[] }> = [];
  await readMultipart(source, boundary, (head) => {
    const chunks: Buffer[] = [];
    parts.push({ ...head, bytes: Buffer.alloc(0), chunks });
    return (bytes) => chunks.push(bytes);
  });
  return parts.map(({ name, filename, chunks }) => ({
    name,
    filename,
    bytes: Buffer.concat(chunks),
  }));
}

// Made of what delimiters are made of, so that near misses are common.
const trickyBytes = fc
  .array(
    fc.constantFrom('\r', '\n', '\r\n', '-', '--', `\r\n--${boundary.slice(0, 4)}`, 'a', 'ü'),
    {
      maxLength: 30,
    },
  )
  .map((pieces) => Buffer.from(pieces.join('')));

const anyPart = fc.record({
  name: fc.stringMatching(/^[a-z[\]_]{1,12}$/),
  filename: fc.option(fc.stringMatching(/^[a-z.]{0,12}$/)),
  bytes: fc.oneof(
    trickyBytes,
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  ),
});

it('reads every part whole, wherever the stream is cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyPart, { minLength: 1, maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 10 }),
      async (parts, sizes) => {
        fc.pre(parts.every(({ bytes }) => !bytes.includes(`\r\n--${boundary}`)));
        expect(await read(cut(write(parts), sizes))).toEqual(parts);
      },
    ),
    { numRuns: 500 },
  );
});

it('refuses a body that ends early, wherever that is', async () => {
  const whole = write([{ name: 'file', filename: 'a.jsonl', bytes: Buffer.from('{}\n') }]);
  const end = whole.length - 4;
  for (let length = 0; length < end; length++) {
    await expect(read(cut(whole.subarray(0, length), [7]))).rejects.toThrow(MultipartError);
  }
});

it('understands what FormData makes of odd file names', async () => {
  const form = new FormData();
  form.set('file', new File(['x'], 'say "hi".jsonl'));
  const response = new Response(form);
  const type = response.headers.get('content-type') ?? '';
  const bytes = Buffer.from(await response.arrayBuffer());
  const names: Array<string | null> = [];
  await readMultipart(cut(bytes, [11]), boundaryOf(type) ?? '', ({ filename }) => {
    names.push(filename);
    return () => {};
  });
  expect(names).toEqual(['say "hi".jsonl']);
});

it('finds the boundary only in a multipart form', () => {
  expect(boundaryOf('multipart/form-data; boundary=abc')).toBe('abc');
  expect(boundaryOf('multipart/form-data; charset=utf-8; boundary="a b"')).toBe('a b');
  expect(boundaryOf('application/json')).toBeNull();
  expect(boundaryOf(undefined)).toBeNull();
});
