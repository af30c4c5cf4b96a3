import { EventEmitter } from 'node:events';
import type { Dispatcher } from 'undici';
import { NotSentError, UnknownOutcomeError } from '../base/errors.ts';
import { watchIdle } from './idle-watch.ts';
import { createReply, networkMessage } from './reply.ts';
import { redact, type Target } from './target.ts';
import { createUpload } from './upload.ts';
import type { WireReply, WireRequest } from './wire.ts';

/** Beyond it the socket is not read. With undici's 64 kB it would stop, and push bytes back, at nearly every chunk. */
const readAheadBytes = 256 * 1024;

export interface Order {
  readonly target: Target;
  readonly method: WireRequest['method'];
  readonly headers: Record<string, string>;
  readonly body: WireRequest['body'];
  readonly idleTimeout: number;
  readonly signal: AbortSignal | undefined;
  readonly secrets: readonly string[];
}

/** One request and its reply, or the class of its failure. */
export function exchange(dispatcher: Dispatcher, order: Order): Promise<WireReply> {
  const { target, method, idleTimeout, signal, secrets } = order;
  const label = `${method} ${target.label}`;

  return new Promise((resolve, reject) => {
    // No AbortController: our own guard watches aborts that come from timers.
    const aborter = new EventEmitter();
    const upload = createUpload(order.body, () => watch.touch());

    function fail(error: unknown): void {
      watch.stop();
      upload.stop();
      const why = redact(networkMessage(error), secrets);
      const facts = { method, url: target.label, partly: upload.isPartly };
      reject(
        upload.handedOver
          ? new UnknownOutcomeError(`${label} was sent, but no answer came: ${why}.`, error, facts)
          : new NotSentError(`${label} was not sent: ${why}.`, error, facts),
      );
    }

    // Fails at once by itself: undici looks at its signal only when a connection stands.
    function end(error: Error): void {
      fail(error);
      aborter.emit('abort');
    }
    const watch = watchIdle(idleTimeout, () => end(new Error(`no progress for ${idleTimeout} ms`)));
    signal?.addEventListener('abort', () => end(new Error('it was cancelled')), { once: true });

    const { 'content-length': _ours, ...headers } = order.headers;
    const sendsLength = order.body !== undefined || method === 'POST' || method === 'PUT';
    // The callback form: it runs before undici's writer, woken by the same closing socket, pulls
    // once more and makes an unfinished upload look finished.
    dispatcher.request(
      {
        origin: target.url.origin,
        path: target.url.pathname + target.url.search,
        method,
        headers: sendsLength ? { ...headers, 'content-length': String(upload.length) } : headers,
        // undici takes any async iterable; its types only know streams.
        body: upload.chunks() as unknown as NonNullable<Dispatcher.RequestOptions['body']>,
        signal: aborter,
        headersTimeout: idleTimeout,
        bodyTimeout: idleTimeout,
        highWaterMark: readAheadBytes,
        onInfo: () => watch.touch(),
        // The user's own dispatcher may follow redirects otherwise.
        ...{ maxRedirections: 0 },
      },
      (error, data) => {
        watch.stop();
        if (error) fail(error);
        else resolve(createReply(data, { label, idleTimeout, secrets }));
      },
    );
  });
}
