import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseJson } from '../../base/json.ts';
import { readBody } from '../admission/read-request-body.ts';
import type { GatewayContext } from '../gateway-context.ts';
import { GatewayError } from '../gateway-error.ts';
import { sendAnswer } from '../send-answer.ts';
import { assertMeantFor } from './audience.ts';
import { GoogleKeys } from './google-keys.ts';
import { checkSignature, readSigned } from './verify.ts';

/** The variables that hold the secrets of providers' webhooks, by the last part of the path. */
const secretVariables: Readonly<Record<string, string>> = {
  openai: 'OPENAI_WEBHOOK_SECRET',
  google: 'GEMINI_WEBHOOK_SECRET',
};

/** The messages are small: they name a batch and hold nothing of it. */
const mostBytes = 64 * 1024;
/** Providers send a message again until it is answered: those that came lately are known. */
const mostKnown = 10_000;

const keysPath = '/.well-known/jwks.json';

export const webhooksRoot = '/webhooks/';

/**
 * Messages of providers that a batch is over. A hint to look at it now, and nothing else: what has become of the batch is
 * what the provider says when it is asked.
 */
export class WebhookHandler {
  readonly #context: GatewayContext;
  readonly #known = new Set<string>();
  /** Messages that were asked for with a batch are signed by Google's own keys. */
  readonly #keys: GoogleKeys | undefined;
  /** Where their tokens may be meant for, as origins: at this gateway, or at the service itself. */
  readonly #audiences: readonly string[] = [];

  constructor(context: GatewayContext) {
    this.#context = context;
    const { googleWebhook, routes, clock } = context;
    const url = routes.baseOf('google', keysPath);
    if (googleWebhook && url !== undefined) {
      this.#keys = new GoogleKeys(url, () => clock.now());
      this.#audiences = [googleWebhook, new URL(url)].map(({ origin }) => origin);
    }
  }

  async handle(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const provider = path.slice(webhooksRoot.length);
    const variable = Object.hasOwn(secretVariables, provider) && secretVariables[provider];
    if (!variable)
      throw new GatewayError('not_found', 'There are /webhooks/openai and /webhooks/google.');
    if (request.method !== 'POST') throw new GatewayError('wrong_method', 'A webhook is a POST.');
    const secret = process.env[variable]?.trim();
    const keys = provider === 'google' ? this.#keys : undefined;
    if (!secret && !keys) {
      throw new GatewayError(
        'not_found',
        `Webhooks of ${provider} are not taken: ${variable} is not set here.`,
      );
    }
    const signed = readSigned(request.headers, this.#context.clock.now());
    const { bytes, share } = await readBody(request, mostBytes, this.#context.bodies);
    share.leave();
    const body = bytes?.toString('utf8') ?? '';
    const claims =
      keys && isToken(signed.signatures) ? await keys.claimsOf(signed.signatures) : undefined;
    if (claims) assertMeantFor(claims, this.#audiences);
    else checkSignature(signed, body, secret);
    sendAnswer(response, {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    if (!this.#isNew(`${provider} ${signed.id}`)) return;
    // A token that holds the event is what is signed.
    const batch = batchOf(claims?.data === undefined ? parseJson(body) : claims);
    if (batch !== undefined) this.#context.engine.hint(provider, batch);
  }

  #isNew(id: string): boolean {
    if (this.#known.has(id)) return false;
    this.#known.add(id);
    const [oldest] = this.#known;
    if (this.#known.size > mostKnown && oldest !== undefined) this.#known.delete(oldest);
    return true;
  }
}

/** A JSON web token, in place of the signatures of Standard Webhooks. */
function isToken(signature: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(signature);
}

/** The batch that an event tells of; `undefined`: it tells of something else. */
function batchOf(event: unknown): string | undefined {
  const { type, data } = (event ?? {}) as { type?: unknown; data?: { id?: unknown } | null };
  const isAboutBatch = typeof type === 'string' && type.startsWith('batch.');
  const id = data?.id;
  return isAboutBatch && typeof id === 'string' ? id : undefined;
}
