import type { Dict } from '../../base/types.ts';
import type { Delivery } from '../model/call.ts';

/** What no header may hold: a request id is whatever the provider wrote, and the answer is paid for. */
const illegal = /[^\t\x20-\x7e\x80-\xff]/;

/** Headers of what the caller gets: the provider's, where the answer came from, and no invitation. */
export function answerHeaders({ answer, source, batchToken, itemId }: Delivery): Dict {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  for (const name in answer.headers) {
    // Clients that see it come back on their own, although we have tried again already.
    if (name === 'retry-after' || name === 'retry-after-ms' || name === 'x-should-retry') continue;
    const value = answer.headers[name] as string;
    if (!illegal.test(value)) headers[name] = value;
  }
  headers['x-batchling-source'] = source;
  if (batchToken !== undefined) headers['x-batchling-batch-id'] = batchToken;
  if (itemId !== '') headers['x-batchling-request-id'] = itemId;
  if (answer.status >= 400) headers['x-should-retry'] = 'false';
  return headers;
}
