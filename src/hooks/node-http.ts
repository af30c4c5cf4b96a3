import type { Agent, ClientRequest, RequestOptions } from 'node:http';
import { markCaptured } from './captured-requests.ts';
import { holdRequest } from './held-request.ts';
import { isPatched, patch } from './patch-registry.ts';
import { isLetOut } from './replay.ts';
import { currentScope } from './state.ts';

type AddRequest = (
  this: Agent,
  request: ClientRequest,
  options: RequestOptions,
  ...legacy: unknown[]
) => void;

/** The method by which every request of node:http and node:https comes to its agent. */
interface AgentPrototype {
  addRequest: AddRequest;
}

/**
 * Puts itself before `http.Agent.prototype.addRequest`, which all clients on top of `node:http` and
 * `node:https` go through, however they came by their `request` function. It runs where the request
 * is made, so that the current scope is that of the caller. What no scope wants goes on untouched.
 *
 * @returns the undo.
 */
export function hookNodeHttp(): () => void {
  return patch(agentPrototype(), 'addRequest', wrapAddRequest);
}

export function isNodeHttpHooked(): boolean {
  return isPatched(agentPrototype(), 'addRequest');
}

/** Asked for, and not imported: a program that never opens a scope need not load `node:http`. */
function agentPrototype(): AgentPrototype {
  return process.getBuiltinModule('node:http').Agent.prototype as unknown as AgentPrototype;
}

function wrapAddRequest(original: AddRequest): AddRequest {
  const wrapper: AddRequest = function addRequest(request, options, ...legacy) {
    const askAgent = (instead: ClientRequest) =>
      Reflect.apply(original, this, [instead, options, ...legacy]);
    const scope = currentScope();
    if (scope === undefined || isLetOut(request) || isUnfit(request)) return askAgent(request);
    const urlOf = (path: string) => requestUrl(request, options, path);
    const url = urlOf(request.path);
    if (url === undefined || !scope.mayCapture(request.method, url)) return askAgent(request);
    if (takeOffHeader(request)) {
      markCaptured(request);
      return askAgent(request);
    }
    holdRequest({ scope, request, urlOf, askAgent, secure: request.protocol === 'https:' });
  };
  // Looks like the original to code that inspects it.
  Object.defineProperties(wrapper, {
    length: { value: original.length, configurable: true },
    name: { value: original.name, configurable: true },
  });
  return wrapper;
}

/** The connection of these becomes something else than HTTP. */
function isUnfit(request: ClientRequest): boolean {
  return request.method === 'CONNECT' || request.getHeader('upgrade') !== undefined;
}

/** Whether the request says that it is not to be captured; that header does not leave. */
function takeOffHeader(request: ClientRequest): boolean {
  // Written already, it is taken out of the bytes later.
  if (request.headersSent || request.getHeader('x-batchling') !== 'off') return false;
  request.removeHeader('x-batchling');
  return true;
}

/** Where a request leads; `undefined` when that is no address of the network. */
function requestUrl(
  { protocol, host }: ClientRequest,
  options: RequestOptions | string,
  path: string,
): string | undefined {
  // The form of requests to a proxy, which name their goal themselves.
  if (/^https?:\/\//i.test(path)) return path;
  if (typeof options === 'string' || options.socketPath || !path.startsWith('/')) return undefined;
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  const usual = protocol === 'https:' ? 443 : 80;
  const port = Number(options.port ?? usual);
  return `${protocol}//${name}${port === usual ? '' : `:${port}`}${path}`;
}
