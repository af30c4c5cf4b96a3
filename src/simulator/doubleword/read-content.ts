import type { ProviderParts } from '../openai-like/description.ts';
import { invalid } from '../openai-like/errors.ts';
import { readLines } from '../server/lines.ts';
import type { Handler } from '../world/provider.ts';

/** A file from a line on, with what is to come told in headers. */
export function readContent({ files, batches }: ProviderParts): Handler {
  return (exchange, id) => {
    const { query } = exchange;
    const { status, body } = files.content(exchange, id);
    const offset = countOf(query, 'offset', 0);
    const all = [...readLines(body as Buffer[])].map(({ text }) => `${text}\n`);
    const lines = all.slice(offset, offset + countOf(query, 'limit', all.length));
    const isWritten = batches.store
      .all()
      .some(({ details, phase }) => details.outputFileId === id && phase !== 'ended');
    const last = offset + lines.length;
    return {
      status,
      headers: {
        'content-type': 'application/x-ndjson',
        'x-incomplete': String(isWritten || last < all.length),
        'x-last-line': String(last),
      },
      body: [Buffer.from(lines.join(''))],
    };
  };
}

function countOf(query: URLSearchParams, name: string, standard: number): number {
  const value = Number(query.get(name) ?? standard);
  if (!Number.isInteger(value) || value < 0) throw invalid(name, 'must be a whole number.');
  return value;
}
