import { describe, expect, it } from 'vitest';
import fc from '../../test/support/fast-check.ts';
import { multipart } from './multipart.ts';
import type { StreamedBody } from './wire.ts';

function fileOf(...chunks: readonly Uint8Array[]): StreamedBody {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return { length, chunks: () => chunks };
}

async function bytesOf(body: StreamedBody): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body.chunks()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function percentEncoded(text: string): string {
  return text.replace(/\r/g, '%0D').replace(/\n/g, '%0A').replace(/"/g, '%22');
}

/** An independent reader: that of Node's fetch. */
async function parse(form: { contentType: string; body: StreamedBody }) {
  const bytes = await bytesOf(form.body);
  const headers = { 'content-type': form.contentType };
  return [...(await new Response(new Uint8Array(bytes), { headers }).formData())];
}

const wellFormed = fc.string({ unit: 'grapheme', maxLength: 30 });

describe('multipart', () => {
  it('writes the fields first and then the file', async () => {
    const form = multipart([['purpose', 'batch']], {
      field: 'file',
      filename: 'batch.jsonl',
      contentType: 'application/jsonl',
      body: fileOf(Buffer.from('{"a":1}\n'), Buffer.from('{"b":2}\n')),
    });
    const boundary = form.contentType.replace('multipart/form-data; boundary=', '');
    expect((await bytesOf(form.body)).toString().split('\r\n')).toEqual([
      `--${boundary}`,
      'Content-Disposition: form-data; name="purpose"',
      '',
      'batch',
      `--${boundary}`,
      'Content-Disposition: form-data; name="file"; filename="batch.jsonl"',
      'Content-Type: application/jsonl',
      '',
      '{"a":1}\n{"b":2}\n',
      `--${boundary}--`,
      '',
    ]);
  });

  it('can be read more than once and is as long as it says', async () => {
    const file = { field: 'f', filename: 'é.txt', contentType: 'text/plain' };
    const { body } = multipart([['ü', '😀']], { ...file, body: fileOf(Buffer.from('x')) });
    const first = await bytesOf(body);
    expect(await bytesOf(body)).toEqual(first);
    expect(body.length).toBe(first.length);
  });

  it('uses another boundary every time, of characters that need no quotes', () => {
    const file = { field: 'f', filename: 'f', contentType: 'text/plain', body: fileOf() };
    const types = Array.from({ length: 50 }, () => multipart([], file).contentType);
    expect(new Set(types).size).toBe(50);
    for (const type of types) expect(type).toMatch(/boundary=[a-z0-9-]{20,70}$/);
  });

  it('lets nothing be injected by names, file names or types', async () => {
    const evil = 'a"\r\nX-Evil: 1\r\n\r\n';
    const { body } = multipart([[evil, 'v']], {
      field: evil,
      filename: evil,
      contentType: 'text/plain\r\nX-Evil: 1',
      body: fileOf(),
    });
    const text = (await bytesOf(body)).toString();
    expect(text).not.toMatch(/^X-Evil/m);
    expect(text).toContain('name="a%22%0D%0AX-Evil: 1%0D%0A%0D%0A"');
  });

  it('is read back as it was written', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(wellFormed, wellFormed), { maxLength: 4 }),
        wellFormed,
        fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 4 }),
        async (fields, filename, chunks) => {
          const contentType = 'application/octet-stream';
          const body = fileOf(...chunks);
          const form = multipart(fields, { field: 'file', filename, contentType, body });
          expect(form.body.length).toBe((await bytesOf(form.body)).length);
          const entries = await parse(form);
          const file = entries.pop()?.[1] as File;
          expect(entries.map(([, value]) => value)).toEqual(fields.map(([, value]) => value));
          expect(entries.map(([name]) => percentEncoded(name))).toEqual(
            fields.map(([name]) => percentEncoded(name)),
          );
          expect(percentEncoded(file.name)).toBe(percentEncoded(filename));
          expect(Buffer.from(await file.arrayBuffer())).toEqual(Buffer.concat(chunks));
        },
      ),
      { numRuns: 200 },
    );
  });
});
