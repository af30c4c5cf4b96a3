import type { Dispatcher } from 'undici';
import { untraced } from '../base/call-tracing.ts';
import { BatchlingError, NotSentError } from '../base/errors.ts';
import type { Clock, Dict } from '../base/types.ts';
import { createAgent } from './agent.ts';
import { exchange } from './exchange.ts';
import { headersFor, redact, resolveTarget, secretsOf, type Target, withQuery } from './target.ts';
import type { Credentials, OutgoingRequest, Wire } from './wire.ts';

export interface HttpClientOptions {
  readonly clock: Clock;
  /** An undici dispatcher of the user. Used as it is and never closed by us. */
  readonly dispatcher?: unknown;
  /** Every request is sent inside of this, so that hooks of the process do not take it for one of the user's. */
  readonly apart?: <T>(send: () => T) => T;
  /** Milliseconds without progress in either direction after which a request is given up. */
  readonly idleTimeout?: number;
}

export interface WireOptions {
  readonly base: string;
  /** Asked for every request: tokens rotate. */
  readonly credentials: () => Credentials;
  /** Asked for every request: what to send instead of them. */
  readonly refresh?: (
    credentials: Credentials,
    request: OutgoingRequest,
  ) => Credentials | Promise<Credentials>;
  /** `refresh` signs requests: what it returns for an `audience` serves nobody else. */
  readonly signs?: boolean;
  /** The only origins that may see the credentials and `headers`. */
  readonly origins: readonly string[];
  /** Sent along on every request to a declared origin. */
  readonly headers?: Dict;
}

export interface HttpClient {
  wire(options: WireOptions): Wire;
  /** Drops what is under way. A second call gets the same promise. */
  close(): Promise<void>;
}

/** How many rotated tokens are still kept out of messages. */
const rememberedCredentials = 8;

/**
 * The connections of one engine. They are private: no hook of ours captures them, and the host
 * program's global dispatcher neither changes them nor is changed by them.
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { clock, idleTimeout = 30_000, apart = (send) => send() } = options;
  const given = options.dispatcher === undefined ? undefined : asDispatcher(options.dispatcher);
  let own: Promise<Dispatcher> | undefined;
  let closing: Promise<void> | undefined;

  async function dispatcher(): Promise<Dispatcher> {
    if (given) return given;
    own ??= createAgent(idleTimeout).catch((error: unknown) => {
      // The next request tries again.
      own = undefined;
      throw error;
    });
    return own;
  }

  return {
    wire({ base, credentials, refresh, signs = false, origins, headers }) {
      const declared = new Set(origins.map((origin) => new URL(origin).origin));
      /** An answer may still quote a credential that was replaced since. */
      let sent: readonly Credentials[] = [];
      return {
        base,
        clock,
        redact: (text) => redact(text, secretsOf([credentials(), ...sent])),
        async send(request) {
          const target = resolveTarget(base, request, declared, signs);
          const secret = await ask(async () => {
            const captured = credentials();
            // A signature is compared with the time of a server.
            const now = clock.wall?.() ?? clock.now();
            const outgoing = { ...request, url: target.url, base, now };
            return (await refresh?.(captured, outgoing)) ?? captured;
          }, target);
          if (!sent.includes(secret)) sent = [secret, ...sent].slice(0, rememberedCredentials);
          const agent = closing ? undefined : await dispatcher();
          if (!agent || closing) {
            throw new NotSentError(`Nothing was sent to ${target.label}: the engine is closed.`);
          }
          const order = {
            target: withQuery(target, secret),
            method: request.method,
            headers: headersFor(target, request.headers, headers, secret),
            body: request.body,
            idleTimeout: request.idleTimeout ?? idleTimeout,
            signal: request.signal,
            secrets: secretsOf([secret, ...sent], target.url, request),
          };
          return untraced(() => apart(() => exchange(agent, order)));
        },
      };
    },
    close() {
      closing ??= (async () => {
        await (await own?.catch(() => undefined))?.destroy();
      })();
      return closing;
    },
  };
}

async function ask(credentials: () => Promise<Credentials>, target: Target): Promise<Credentials> {
  try {
    return await credentials();
  } catch (error) {
    // A function of the user's may throw whatever it holds; what is ours is for people.
    const why = BatchlingError.isInstance(error) ? ` ${error.message}` : '';
    throw new NotSentError(`Nothing was sent to ${target.label}: no credentials.${why}`, error, {
      reason: 'no credential',
    });
  }
}

function asDispatcher(value: unknown): Dispatcher {
  if (typeof value === 'object' && value !== null && 'dispatch' in value && 'request' in value) {
    return value as Dispatcher;
  }
  throw new BatchlingError(
    'INVALID_OPTION',
    `dispatcher must be an undici Dispatcher, but got: ${typeof value}.`,
  );
}
