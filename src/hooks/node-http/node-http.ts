import type { Agent, ClientRequest, RequestOptions } from 'node:http';
import type tls from 'node:tls';
import { activeMock } from '../active-mock.ts';
import { isPatched, patch } from '../patch-registry.ts';
import { currentScope, sharedState } from '../state.ts';
import { type Candidate, holdRequest } from './held-request.ts';
import { judgeRequest, takeOffHeader } from './judged-request.ts';
import { isReplayed } from './replay.ts';

type AddRequest = (
  this: Agent,
  request: ClientRequest,
  options: RequestOptions,
  ...legacy: unknown[]
) => void;

/** The method that hands every request of `node:http` and `node:https` to its agent. */
interface AgentPrototype {
  addRequest: AddRequest;
}

/**
 * Wraps `http.Agent.prototype.addRequest`, which every client on top of `node:http` and `node:https`
 * calls, however it got its `request` function. It runs in the caller's async context, so the current
 * scope is the caller's. A request that no scope wants goes on unchanged.
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

/** Not imported: a program that never opens a scope does not load `node:http`. */
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

/** `undefined`: the request goes out over its real socket. */
function findCandidate(
  original: AddRequest,
  agent: Agent,
  parameters: Parameters<AddRequest>,
): Candidate | undefined {
  const scope = currentScope();
  if (scope === undefined) return undefined;
  const [request, options, ...legacy] = parameters;
  // Another library's wrapper may call an agent twice for one request.
  const { capturedRequests } = sharedState();
  if (isReplayed(request) || capturedRequests.has(request)) return undefined;
  const url = requestUrl(request, options, request.path);
  if (url === undefined) return undefined;
  const secure = request.protocol === 'https:';
  const checksServer =
    secure &&
    (hasOwnCheck(options) || hasOwnCheck((agent as Agent & { options?: unknown }).options));
  const plan = scope.planRequest(request.method, url, checksServer);
  if (plan === 'leave') return undefined;
  capturedRequests.add(request);
  if (takeOffHeader(request)) return undefined;
  const mock = activeMock('node:http');
  if (mock !== undefined && scope.leaveToMock(url, mock)) return undefined;
  if (plan !== 'hold') {
    judgeRequest(request, plan);
    return undefined;
  }
  return {
    scope,
    request,
    secure,
    checksServer,
    urlOf: (path) => requestUrl(request, options, path),
    askAgent: (standIn) => Reflect.apply(original, agent, [standIn, options, ...legacy]),
  };
}

/** A client that pins certificates gives its own check to Node, which is not asked for a fake socket. */
export function hasOwnCheck(options: unknown): boolean {
  const { checkServerIdentity: check } = (options ?? {}) as tls.ConnectionOptions;
  return (
    typeof check === 'function' &&
    check !== process.getBuiltinModule('node:tls').checkServerIdentity
  );
}

/** The URL of a request; `undefined` for a Unix socket and other targets that have none. */
function requestUrl(
  { protocol, host }: ClientRequest,
  options: RequestOptions | string,
  path: string,
): string | undefined {
  // A request to a proxy has the whole URL as its path.
  if (/^https?:\/\//i.test(path)) return path;
  if (typeof options === 'string' || options.socketPath || !path.startsWith('/')) return undefined;
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  const usual = protocol === 'https:' ? 443 : 80;
  const port = Number(options.port ?? usual);
  return `${protocol}//${name}${port === usual ? '' : `:${port}`}${path}`;
}
