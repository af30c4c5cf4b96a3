import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Dict } from '../../base/types.ts';
import type { ProviderInfo } from '../../batchers/provider-info.ts';
import { GatewayError } from '../gateway-error.ts';
import { type RequestOptions, requestOptions } from '../request/request-options.ts';
import { forwardedHeaders } from './forwarded-headers.ts';

/** What the headers of a request say. */
export interface ClientHeaders {
  /** The headers that the provider is to see, but for the length of the body. */
  readonly forwarded: Dict;
  readonly asked: RequestOptions;
}

const mostKnown = 1_000;
/** Longer ones are read each time, so that clients that invent headers cannot use up the memory. */
const longestKnown = 4_000;

/** Reads headers. A client sends the same ones with each of its calls, so they are read once and shared. */
export class HeaderReader {
  readonly #known = new Map<string, ClientHeaders>();

  /** `own`: the gateway's own credential for the provider. */
  read(request: IncomingMessage, info: ProviderInfo, own: Dict | undefined): ClientHeaders {
    const text = textOf(request, info);
    const known = this.#known.get(text);
    if (known) return known;
    const { 'content-length': _, ...given } = request.headers;
    if (own === undefined && isSigned(given, info)) throw signedElsewhere(info);
    const read = { forwarded: forwardedHeaders(given, info, own), asked: requestOptions(given) };
    if (text.length > longestKnown) return read;
    if (this.#known.size >= mostKnown) this.#known.clear();
    this.#known.set(text, read);
    return read;
  }
}

/** Whether the client has signed the request: for another host, and with a key that nobody can check here. */
function isSigned(
  given: IncomingHttpHeaders,
  { lastingCredential, credentialHeaders }: ProviderInfo,
) {
  return credentialHeaders.some((name) => {
    const value = given[name];
    return (
      typeof value === 'string' && lastingCredential && lastingCredential(name, value) !== value
    );
  });
}

function signedElsewhere({ name }: ProviderInfo): GatewayError {
  const message = `A signed request to ${name} cannot pass a gateway: its signature is for another host, and proves nothing here. Use \`batchling run\` or \`exec\`, or an API key.`;
  return new GatewayError('bad_header', message);
}

/** All that is read: only the length of the body differs from call to call. */
function textOf({ rawHeaders }: IncomingMessage, { name }: ProviderInfo): string {
  let text = name;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = rawHeaders[at] as string;
    if (header.length === 14 && header.toLowerCase() === 'content-length') continue;
    text += `\n${header}:${rawHeaders[at + 1]}`;
  }
  return text;
}
