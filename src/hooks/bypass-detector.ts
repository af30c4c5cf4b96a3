import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { addOwner } from './add-owner.ts';
import { currentScope, sharedState } from './state.ts';

/** The part of undici's message that we read. */
interface UndiciMessage {
  readonly request?: {
    readonly origin?: unknown;
    readonly path?: unknown;
    readonly method?: unknown;
  };
}

/** The part of Node's message that we read. */
interface HttpMessage {
  readonly request?: {
    readonly method?: string;
    readonly protocol?: string;
    readonly host?: string;
    readonly path?: string;
    getHeader?(name: string): unknown;
  };
}

const detector = { owners: 0 };

/**
 * Reports LLM calls that leave although a scope is open: by a client that kept the fetch it found
 * before batchling was loaded, or one with a transport of its own. It cannot hold them back.
 *
 * @returns the undo.
 */
export function detectBypasses(): () => void {
  if (detector.owners === 0) {
    subscribe('undici:request:create', onUndici);
    subscribe('http.client.request.start', onHttp);
  }
  return addOwner(detector, () => {
    unsubscribe('undici:request:create', onUndici);
    unsubscribe('http.client.request.start', onHttp);
  });
}

function onUndici(message: unknown): void {
  const { request } = message as UndiciMessage;
  report(String(request?.method), `${String(request?.origin)}${String(request?.path)}`);
}

function onHttp(message: unknown): void {
  const { request } = message as HttpMessage;
  if (request === undefined || sharedState().capturedRequests.has(request)) return;
  const host = request.getHeader?.('host') ?? request.host;
  report(String(request.method), `${request.protocol}//${String(host)}${request.path}`);
}

function report(method: string, url: string): void {
  currentScope()?.escaped(method, url);
}
