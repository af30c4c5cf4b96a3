import type { Dispatcher } from 'undici';
import { bundlerAdvice } from '../base/bundlers.ts';
import { BatchlingError, messageOf, NotSentError } from '../base/errors.ts';
import type { Clock, Dict } from '../base/types.ts';
import { exchange } from './exchange.ts';
import { headersFor, redact, resolveTarget, secretsOf, type Target, withQuery } from './target.ts';
import type { Credentials, Wire } from './wire.ts';

export interface HttpClientOptions {
  readonly clock: Clock;
  /** An undici dispatcher of the user. Used as it is and never closed by us. */
  readonly dispatcher?: unknown;
  /** Milliseconds without progress in either direction after which a request is given up. */
  readonly idleTimeout?: number;
}

export interface WireOptions {
  readonly base: string;
  /** Asked for every request: tokens rotate. */
  readonly credentials: () => Credentials;
  /** Asked for every request: what to send instead of them. */
  readonly refresh?: (credentials: Credentials) => Credentials | Promise<Credentials>;
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

const proxyVariables = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY'] as const;

/**
 * The connections of one engine. They are private: no hook of ours captures them, and the host
 * program's global dispatcher neither changes them nor is changed by them.
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { clock, idleTimeout = 30_000 } = options;
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
    wire({ base, credentials, refresh, origins, headers }) {
      const declared = new Set(origins.map((origin) => new URL(origin).origin));
      /** An answer may still quote a credential that was replaced since. */
      let sent: readonly Credentials[] = [];
      return {
        base,
        clock,
        redact: (text) => redact(text, secretsOf([credentials(), ...sent])),
        async send(request) {
          const target = resolveTarget(base, request, declared);
          const secret = await ask(async () => {
            const captured = credentials();
            return (await refresh?.(captured)) ?? captured;
          }, target);
          if (!sent.includes(secret)) sent = [secret, ...sent].slice(0, rememberedCredentials);
          const agent = closing ? undefined : await dispatcher();
          if (!agent || closing) {
            throw new NotSentError(`Nothing was sent to ${target.label}: the engine is closed.`);
          }
          return exchange(agent, {
            target: withQuery(target, secret),
            method: request.method,
            headers: headersFor(target, request.headers, headers, secret),
            body: request.body,
            idleTimeout,
            secrets: secretsOf([secret, ...sent], target.url, request),
          });
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
    throw new NotSentError(`Nothing was sent to ${target.label}: no credentials.`, error, {
      reason: 'no credential',
    });
  }
}

async function loadUndici(): Promise<typeof import('undici')> {
  try {
    // Bun answers to the bare name with a stand-in of its own, which has no dispatcher.
    return await (process.versions.bun ? import('undici/index.js') : import('undici'));
  } catch (error) {
    const message = `undici could not be loaded: ${messageOf(error)}. ${bundlerAdvice}`;
    throw new BatchlingError('NOT_AVAILABLE', message, { cause: error });
  }
}

async function createAgent(idleTimeout: number): Promise<Dispatcher> {
  // Whichever undici loads first becomes the global dispatcher, ours included. Node's own one has
  // to be first, or the program's fetch would run on our copy. Reading `Request` loads it.
  void globalThis.Request;
  const { Agent, EnvHttpProxyAgent } = await loadUndici();
  const agentOptions = { connect: { timeout: Math.min(idleTimeout, 10_000) }, pipelining: 1 };
  if (!proxyVariables.some((name) => process.env[name])) return new Agent(agentOptions);
  try {
    return new EnvHttpProxyAgent(agentOptions);
  } catch {
    // The cause is left out: it quotes the URL of the proxy, which may hold a password.
    throw new BatchlingError(
      'INVALID_OPTION',
      'HTTP_PROXY or HTTPS_PROXY is not the URL of a proxy, such as http://proxy.example:3128.',
    );
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
