import type { Dispatcher } from 'undici';
import { BatchlingError, invariant, UnknownOutcomeError } from '../base/errors.ts';
import type { Dict } from '../base/types.ts';
import { watchIdle } from './idle-watch.ts';
import { redact } from './target.ts';
import type { WireReply } from './wire.ts';

export interface ReplyContext {
  /** `POST https://api.example/v1/batches`: what a message begins with. */
  readonly label: string;
  readonly idleTimeout: number;
  readonly secrets: readonly string[];
}

const excerptLength = 200;
/** Fewer bytes than this are no progress: a reply that trickles would hold up what waits for it for hours. */
const leastBytes = 1024;
/** What is read as a whole is a list or an error; results, which may be large, are streamed. */
const mostTextBytes = 64 * 1024 * 1024;

export function createReply(data: Dispatcher.ResponseData, context: ReplyContext): WireReply {
  const { statusCode: status, body } = data;
  const { label, idleTimeout, secrets } = context;
  const headers = toDict(data.headers);
  const encoding = headers['content-encoding'];
  let used = false;
  let whole: Promise<string> | undefined;

  function unusable(what: string, cause?: unknown): UnknownOutcomeError {
    return new UnknownOutcomeError(`${label} answered ${status}, but ${what}.`, cause, { status });
  }

  async function* raw(): AsyncGenerator<Uint8Array> {
    invariant(!used, `The body of the reply to ${label} was read twice`);
    used = true;
    const iterator: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
    // Only our waiting counts: a reader that takes its time is no silence of the server.
    let waited = 0;
    let received = 0;
    try {
      for (;;) {
        const began = performance.now();
        const watch = watchIdle(Math.max(0, idleTimeout - waited), () => {
          body.destroy(new Error(`fewer than ${leastBytes} bytes came in ${idleTimeout} ms`));
        });
        const next = await iterator.next().finally(watch.stop);
        if (next.done) return;
        waited += performance.now() - began;
        received += next.value.length;
        if (received >= leastBytes) {
          waited = 0;
          received = 0;
        }
        yield next.value;
      }
    } catch (error) {
      throw unusable(`the body broke off: ${redact(networkMessage(error), secrets)}`, error);
    } finally {
      await iterator.return?.();
    }
  }

  /** We ask for no encoding, but gateways apply one all the same. */
  async function* decodedBytes(contentEncoding: string): AsyncGenerator<Uint8Array> {
    const { decoded } = await import('./decode.ts');
    try {
      yield* decoded(raw(), contentEncoding);
    } catch (error) {
      await discard();
      if (error instanceof BatchlingError) throw error;
      throw unusable(
        `the body cannot be decoded: ${redact(networkMessage(error), secrets)}`,
        error,
      );
    }
  }

  function bytes(): AsyncGenerator<Uint8Array> {
    return encoding === undefined ? raw() : decodedBytes(encoding);
  }

  async function collect(): Promise<string> {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of bytes()) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > mostTextBytes) throw unusable(`the body is longer than ${mostTextBytes} bytes`);
    }
    return new TextDecoder().decode(Buffer.concat(chunks));
  }

  function text(): Promise<string> {
    whole ??= collect();
    return whole;
  }

  async function discard(): Promise<void> {
    const untouched = !used;
    used = true;
    if (untouched) await body.dump();
    else body.destroy();
  }

  return {
    status,
    headers,
    bytes,
    text,
    async json() {
      const source = await text();
      try {
        return JSON.parse(source);
      } catch {
        // The cause is left out: a SyntaxError quotes the body, which may echo a credential.
        const excerpt = redact(source.slice(0, 4_096), secrets).slice(0, excerptLength);
        throw unusable(`the body is not JSON: ${JSON.stringify(excerpt)}`);
      }
    },
    discard,
  };
}

/** What an error of the network says, with its code. */
export function networkMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : undefined;
  if (!error.message) return code ?? error.name;
  return code && !error.message.includes(code) ? `${error.message} (${code})` : error.message;
}

function toDict(headers: Dispatcher.ResponseData['headers']): Dict {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) result[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return result;
}
