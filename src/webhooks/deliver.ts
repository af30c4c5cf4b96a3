import type { Dispatcher } from 'undici';
import { messageOf } from '../base/errors.ts';
import type { Dict } from '../base/types.ts';
import { version } from '../base/version.ts';
import { parseRetryAfter } from '../concurrency/backoff.ts';
import type { DueMessage } from '../ledger/ledger.ts';
import { objectionToHost } from './address-objection.ts';
import { signatureOf } from './signature.ts';
import type { SigningKeys } from './signing-keys.ts';

/** How an attempt has ended. `gone`: the receiver wants no more messages (410). */
export type Delivery =
  | { readonly is: 'delivered' }
  | { readonly is: 'gone'; readonly why: string }
  /** `retryAfter`: milliseconds that the receiver asked for. */
  | { readonly is: 'failed'; readonly why: string; readonly retryAfter?: number };

/** How long a receiver may take, in milliseconds. */
const timeLimit = 15_000;

export interface Receiver {
  readonly url: URL;
  readonly keys: SigningKeys;
  readonly dispatcher: Dispatcher;
}

/** Sends a message once, as Standard Webhooks says. Redirects are failures: nobody has named where they lead. */
export async function deliver(
  { url, keys, dispatcher }: Receiver,
  { id, body }: DueMessage,
  now: number,
): Promise<Delivery> {
  const refused = objectionToHost(url);
  if (refused !== undefined) return { is: 'failed', why: refused };
  const timestamp = Math.floor(now / 1_000);
  const ended = new AbortController();
  const timer = setTimeout(
    () => ended.abort(new Error(`no answer within ${timeLimit / 1_000} s`)),
    timeLimit,
  );
  // Neither the timer nor the connection keeps a program up that is done: closing gives it a moment.
  timer.unref();
  try {
    const {
      statusCode,
      headers,
      body: reply,
    } = await dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': `batchling/${version}`,
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatureOf(keys, id, timestamp, body),
      },
      body,
      signal: ended.signal,
      reset: true,
      headersTimeout: timeLimit,
      bodyTimeout: timeLimit,
    });
    // Nothing in the reply counts.
    await reply.dump({ limit: 16_384 }).catch(() => undefined);
    if (statusCode >= 200 && statusCode < 300) return { is: 'delivered' };
    const why = `it answered ${statusCode}`;
    if (statusCode === 410) return { is: 'gone', why };
    const retryAfter = parseRetryAfter(headers as Dict, now);
    return { is: 'failed', why, ...(retryAfter !== undefined && { retryAfter }) };
  } catch (error) {
    return { is: 'failed', why: messageOf(error) };
  } finally {
    clearTimeout(timer);
  }
}
