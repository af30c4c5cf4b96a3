import type { Agent, ClientRequest, RequestOptions } from 'node:http';
import { isPatched, patch } from '../patch-registry.ts';
import { currentScope } from '../state.ts';
import { isCapturedRequest, markCaptured } from './captured-requests.ts';
import { type Candidate, holdRequest } from './held-request.ts';
import { isLetOut } from './replay.ts';

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
  const name = 'http.Agent.prototype.addRequest';
  return patch(agentPrototype(), 'addRequest', wrapAddRequest, name);
}

export function isNodeHttpHooked(): boolean {
  return isPatched(agentPrototype(), 'addRequest');
}

/** Asked for, and not imported: a program that never opens a scope need not load `node:http`. */
function agentPrototype(): AgentPrototype {
  return process.getBuiltinModule('node:http').Agent.prototype as unknown as AgentPrototype;
}

function wrapAddRequest(original: AddRequest): AddRequest {
  return function addRequest(...parameters) {
    const candidate = findCandidate(original, this, parameters);
    if (candidate) holdRequest(candidate);
    else Reflect.apply(original, this, parameters);
  };
}

/** `undefined`: the request goes out as if we were not there. */
function findCandidate(
  original: AddRequest,
  agent: Agent,
  parameters: Parameters<AddRequest>,
): Candidate | undefined {
  const scope = currentScope();
  if (scope === undefined) return undefined;
  const [request, options, ...legacy] = parameters;
  // Decided already: another wrapper may ask an agent twice.
  if (isLetOut(request) || isCapturedRequest(request) || isUnfit(request)) return undefined;
  const url = requestUrl(request, options, request.path);
  const contentType = request.getHeader('content-type');
  if (url === undefined || !scope.mayCapture(request.method, url, contentType)) return undefined;
  if (takeOffHeader(request) || scope.leaveToMock(url)) {
    markCaptured(request);
    return undefined;
  }
  return {
    scope,
    request,
    secure: request.protocol === 'https:',
    urlOf: (path) => requestUrl(request, options, path),
    askAgent: (standIn) => Reflect.apply(original, agent, [standIn, options, ...legacy]),
  };
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
