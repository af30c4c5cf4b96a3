import type { Dict } from '../../src/base/types.ts';
import type { HookedCall, HookScope, RawAnswer } from '../../src/hooks/border.ts';
import { sharedState } from '../../src/hooks/state.ts';

/** What a scope was handed by the hook of `node:http`. */
export interface HandedRequest {
  readonly url: string;
  readonly headers: Dict | undefined;
  readonly body: unknown;
  readonly checksServer: boolean | undefined;
  answered(): Promise<number | undefined> | undefined;
}

/** A scope as the hooks see it, that keeps what it was asked and answers what the test says. */
export interface TestScope extends HookScope {
  open: boolean;
  readonly asked: { readonly method: string; readonly url: string }[];
  readonly requests: HandedRequest[];
  readonly signals: AbortSignal[];
  readonly escapes: string[];
}

export type Handle = (
  request: HandedRequest,
  signal: AbortSignal,
) => RawAnswer | undefined | Promise<RawAnswer | undefined>;

/** Every POST below `/v1` may be captured. */
export function testScope(handle: Handle = answerWith()): TestScope {
  const scope: TestScope = {
    open: true,
    hooked: true,
    parent: undefined,
    asked: [],
    requests: [],
    signals: [],
    escapes: [],
    knowsHost: () => true,
    planRequest(method, url) {
      scope.asked.push({ method, url });
      return method === 'POST' && new URL(url).pathname.startsWith('/v1/') ? 'hold' : 'leave';
    },
    handle<Result>(call: HookedCall<Result>) {
      // Calls by fetch are none of its business.
      if (call.answered === undefined) return call.send();
      const { url, checksServer } = call;
      const headers = call.readHeaders();
      const body = call.readBody();
      const request = { url, headers, body, checksServer, answered: () => call.answered?.() };
      const signal = call.signal as AbortSignal;
      scope.requests.push(request);
      scope.signals.push(signal);
      const answering = async () => handle(request, signal) as Promise<Result>;
      return answering();
    },
    escaped: (_method, url) => void scope.escapes.push(url),
    leaveToMock: () => false,
  };
  return scope;
}

export function answerWith(body = '{"captured":true}', status = 200): Handle {
  const headers = { 'content-type': 'application/json', 'x-request-id': 'req_1' };
  return () => ({ status, headers, body });
}

/** An answer that the test gives when it likes. */
export function answerLater() {
  let resolve!: (answer: RawAnswer | undefined) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<RawAnswer | undefined>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { handle: () => promise, resolve, reject };
}

/** Neither answers nor lets out. */
export const neverAnswer: Handle = () => new Promise(() => undefined);

/** Lets every request out after all. */
export const letOut: Handle = () => undefined;

export function inside<T>(scope: HookScope, fn: () => T): T {
  return sharedState().scopes.run(scope, fn);
}
