import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { isCapturedRequest } from './node-http/captured-requests.ts';
import { currentScope } from './state.ts';

/** What undici tells of a request, as far as we look at it. */
interface UndiciMessage {
  readonly request?: {
    readonly origin?: unknown;
    readonly path?: unknown;
    readonly method?: unknown;
  };
}

/** What node:http tells of a request. */
interface HttpMessage {
  readonly request?: {
    readonly method?: string;
    readonly protocol?: string;
    readonly host?: string;
    readonly path?: string;
    getHeader?(name: string): unknown;
  };
}

let watchers = 0;

/**
 * Sees LLM calls that leave although a scope is open: a client that kept the fetch it found before
 * batchling was loaded, or one with its own way to the network. It can only tell, not hold them.
 *
 * @returns the undo.
 */
export function detectEscapes(): () => void {
  watchers += 1;
  if (watchers === 1) {
    subscribe('undici:request:create', onUndici);
    subscribe('http.client.request.start', onHttp);
  }
  let undone = false;
  return () => {
    if (undone) return;
    undone = true;
    watchers -= 1;
    if (watchers > 0) return;
    unsubscribe('undici:request:create', onUndici);
    unsubscribe('http.client.request.start', onHttp);
  };
}

function onUndici(message: unknown): void {
  const { request } = message as UndiciMessage;
  report(String(request?.method), `${String(request?.origin)}${String(request?.path)}`);
}

function onHttp(message: unknown): void {
  const { request } = message as HttpMessage;
  if (request === undefined || isCapturedRequest(request)) return;
  const host = request.getHeader?.('host') ?? request.host;
  report(String(request.method), `${request.protocol}//${String(host)}${request.path}`);
}

function report(method: string, url: string): void {
  const scope = currentScope();
  if (scope?.mayCapture(method, url)) scope.escaped(url);
}
