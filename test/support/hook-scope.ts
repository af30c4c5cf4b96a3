import {
  type HookScope,
  type RawAnswer,
  type RawRequest,
  sharedState,
} from '../../src/hooks/state.ts';

/** A scope as the hooks see it, that keeps what it was asked and answers what the test says. */
export interface TestScope extends HookScope {
  open: boolean;
  readonly asked: { readonly method: string; readonly url: string }[];
  readonly requests: RawRequest[];
  readonly signals: AbortSignal[];
  readonly escapes: string[];
}

export type Handle = (
  request: RawRequest,
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
    planRequest(method, url) {
      scope.asked.push({ method, url });
      return method === 'POST' && new URL(url).pathname.startsWith('/v1/') ? 'hold' : 'leave';
    },
    async handleRequest(request, signal) {
      scope.requests.push(request);
      scope.signals.push(signal);
      return handle(request, signal);
    },
    escaped: (_method, url) => void scope.escapes.push(url),
    leaveToMock: () => false,
    handleFetch: (passOn, input, init) => passOn(input, init),
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
