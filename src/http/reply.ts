import type { Dispatcher } from 'undici';
import { invariant, UnknownOutcomeError } from '../errors.ts';
import type { Dict } from '../types.ts';
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

export function createReply(data: Dispatcher.ResponseData, context: ReplyContext): WireReply {
  const { statusCode: status, body } = data;
  const { label, idleTimeout, secrets } = context;
  let used = false;
  let whole: Promise<string> | undefined;

  function unusable(what: string, cause?: unknown): UnknownOutcomeError {
    return new UnknownOutcomeError(`${label} answered ${status}, but ${what}.`, cause, { status });
  }

  async function* bytes(): AsyncGenerator<Uint8Array> {
    invariant(!used, `The body of the reply to ${label} was read twice`);
    used = true;
    const iterator: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
    try {
      for (;;) {
        // Only our waiting counts: a reader that takes its time is no silence of the server.
        const watch = watchIdle(idleTimeout, () => {
          body.destroy(new Error(`no byte came for ${idleTimeout} ms`));
        });
        const next = await iterator.next().finally(watch.stop);
        if (next.done) return;
        yield next.value;
      }
    } catch (error) {
      throw unusable(`the body broke off: ${redact(messageOf(error), secrets)}`, error);
    } finally {
      await iterator.return?.();
    }
  }

  async function collect(): Promise<string> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of bytes()) chunks.push(chunk);
    return new TextDecoder().decode(Buffer.concat(chunks));
  }

  function text(): Promise<string> {
    whole ??= collect();
    return whole;
  }

  return {
    status,
    headers: toDict(data.headers),
    bytes,
    text,
    async json() {
      const source = await text();
      try {
        return JSON.parse(source);
      } catch {
        // Without the cause: a SyntaxError quotes the body, and a body may echo a credential.
        const excerpt = redact(source.slice(0, 4_096), secrets).slice(0, excerptLength);
        throw unusable(`the body is not JSON: ${JSON.stringify(excerpt)}`);
      }
    },
    async discard() {
      const untouched = !used;
      used = true;
      if (untouched) await body.dump();
      else body.destroy();
    },
  };
}

export function messageOf(error: unknown): string {
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
