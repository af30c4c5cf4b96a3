import { setMaxListeners } from 'node:events';
import { readBody } from '../../hooks/fetch/read-call.ts';
import type { EarlyEnd, EndReason } from './early-end.ts';

/** The body of a fetch that is still being read. */
export interface LateBody {
  /** `undefined`: not text. */
  readonly text: Promise<string | undefined> | undefined;
  /** The options to send the call with, if it is not captured after all. */
  readonly init: RequestInit | undefined;
  /** The body is not needed any more. */
  drop(reason: unknown): void;
}

/** Like fetch, we take a body of bytes when the call is made: its memory may be used again afterwards. */
export function withOwnBytes(init: RequestInit | undefined): RequestInit | undefined {
  const body = init?.body;
  if (body instanceof ArrayBuffer) return { ...init, body: body.slice(0) };
  if (!ArrayBuffer.isView(body)) return init;
  const bytes = new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  return { ...init, body: bytes.slice() };
}

/** The body of a fetch: the text, or a body that is being read. */
export function openBody(
  input: string | URL | Request,
  init: RequestInit | undefined,
): string | LateBody {
  try {
    if (init?.body instanceof ReadableStream) return readStream(init.body, init);
    const body = readBody(input, init);
    if (typeof body === 'string') return body;
    return { text: body, init, drop: () => undefined };
  } catch (error) {
    // A body that is locked or used: fetch rejects, it does not throw.
    return { text: Promise.reject(error), init, drop: () => undefined };
  }
}

function readStream(stream: ReadableStream<Uint8Array>, init: RequestInit): LateBody {
  const [ours, theirs] = stream.tee();
  const reader = ours.getReader();
  return {
    text: readAll(reader),
    init: { ...init, body: theirs },
    // As fetch does on an abort: the source is cancelled.
    drop(reason) {
      for (const half of [reader, theirs]) half.cancel(reason).catch(() => undefined);
    },
  };
}

async function readAll(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
  }
}

/** The body, or why the call has ended before it was read. The caller's abort rejects. */
export async function readUntilEnded(
  { text, drop }: LateBody,
  signal: AbortSignal | undefined,
  earlyEnd: EarlyEnd,
): Promise<{ readonly body: string | undefined } | { readonly over: EndReason }> {
  let settle = () => {};
  const ended = new Promise<{ readonly over: EndReason }>((resolve, reject) => {
    const onAbort = () => reject(signal?.reason);
    // One signal may serve thousands of calls, and Node warns at the eleventh listener.
    if (signal) setMaxListeners(0, signal);
    signal?.addEventListener('abort', onAbort, { once: true });
    const forget = earlyEnd.onSentAway((over) => resolve({ over }));
    settle = () => {
      signal?.removeEventListener('abort', onAbort);
      forget();
    };
  });
  ended.then(
    ({ over }) => drop(over),
    (reason: unknown) => drop(reason),
  );
  try {
    return await Promise.race([Promise.resolve(text).then((body) => ({ body })), ended]);
  } finally {
    settle();
  }
}
