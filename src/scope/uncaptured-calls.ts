import type { Batcher } from '../batchers/batcher.ts';
import type { RegisteredBatcher } from '../batchers/registry.ts';
import { activeMock } from '../hooks/active-mock.ts';
import { decodeUtf8 } from '../hooks/fetch/read-call.ts';
import type { Fetch, RawAnswer, RawRequest } from '../hooks/state.ts';
import type { ResolvedOptions } from '../options/index.ts';
import type { Router } from '../orchestrator/capture/router.ts';
import { UnbatchedFinder } from '../orchestrator/capture/unbatched.ts';
import type { Dict } from '../types.ts';
import type { Bypasses, BypassReason } from './bypasses.ts';
import { headersOf, withoutOurHeader } from './call-headers.ts';
import { goOut, type Outgoing, signalOf } from './client-call.ts';
import { respond } from './respond.ts';

/** A call that may be an LLM call, by its URL. */
interface Suspect extends BypassReason {
  /** Whether headers and body show an LLM call; `body` is `undefined` where it is not text. */
  isProvedBy(headers: Dict, body: string | undefined): boolean;
  /** The batcher that writes the error, where the call is held back. */
  load(): Promise<Batcher>;
}

const scopeIsClosed: BypassReason = {
  reason: 'the scope that its code belongs to is closed',
  cure:
    'Consume generators and await everything inside the scope, or open another scope there; bind a ' +
    'callback that lives longer to a scope that lives as long: scope.bind(callback).',
  topic: 'the scope is closed',
};

/**
 * Calls made in a scope that it does not capture. Nearly all of them pass through unchanged. An LLM
 * call among them is reported, and held back where bypasses are errors.
 */
export class UncapturedCalls {
  readonly #options: ResolvedOptions;
  readonly #router: Router;
  readonly #bypasses: Bypasses;
  readonly #finder: UnbatchedFinder;

  constructor(
    options: ResolvedOptions,
    router: Router,
    batchers: readonly RegisteredBatcher[],
    bypasses: Bypasses,
  ) {
    this.#options = options;
    this.#router = router;
    this.#bypasses = bypasses;
    this.#finder = new UnbatchedFinder(router, batchers);
  }

  /** Whether a request of `node:http` may be an LLM call, although no batcher captures it. */
  isSuspect(url: string, contentType: unknown): boolean {
    const unbatched = this.#finder.find(url);
    return unbatched !== undefined && (unbatched.isCertain || /json/i.test(String(contentType)));
  }

  /** `isLate`: the scope is closed. */
  handleFetch(
    passOn: Fetch,
    input: string | URL | Request,
    init: RequestInit | undefined,
    url: string,
    isLate: boolean,
  ): Promise<Response> {
    const suspect = this.#suspect(url, isLate);
    if (suspect === undefined) return passOn(input, init);
    return this.#handleSuspect({ passOn, input, init }, url, suspect);
  }

  #handleSuspect(outgoing: Outgoing, url: string, suspect: Suspect): Promise<Response> {
    const { passOn, input, init } = outgoing;
    const headers = headersOf(outgoing);
    if (headers === undefined) return passOn(input, init);
    if (headers['x-batchling'] === 'off') return goOut(withoutOurHeader(outgoing));
    const body = typeof init?.body === 'string' ? init.body : undefined;
    if (!suspect.isProvedBy(headers, body) || signalOf(outgoing)?.aborted)
      return passOn(input, init);
    if (this.#mock('fetch', init) !== undefined) return goOut(outgoing);
    const refusal = this.#bypasses.report(url, suspect);
    return refusal === undefined ? goOut(outgoing) : this.#respond(suspect, refusal, url);
  }

  /** `undefined`: the request goes out unchanged. */
  async handleRequest(request: RawRequest, isLate: boolean): Promise<RawAnswer | undefined> {
    const { url, headers, body } = request;
    const suspect = this.#suspect(url, isLate);
    if (suspect === undefined || headers['x-batchling'] === 'off') return undefined;
    if (!suspect.isProvedBy(headers, decodeUtf8(body))) return undefined;
    const refusal = this.#bypasses.report(url, suspect);
    return refusal === undefined
      ? undefined
      : this.#bypasses.refusal(await suspect.load(), refusal);
  }

  async #respond(suspect: Suspect, refusal: string, url: string): Promise<Response> {
    const answer = await this.#bypasses.refusal(await suspect.load(), refusal);
    return respond(answer, answer.headers, url);
  }

  /** Reports a call that has left without passing the hooks. */
  escaped(url: string): void {
    this.#bypasses.escaped(url, this.#router.find(url) ? undefined : this.#finder.find(url));
  }

  /** Whether a mocking tool gets a call that the scope would have captured. */
  leaveToMock(url: string, way: 'fetch' | 'node:http', init?: RequestInit): boolean {
    const mock = this.#mock(way, init);
    if (mock !== undefined && this.#router.find(url)) this.#bypasses.mocked(url, mock);
    return mock !== undefined;
  }

  /** With a dispatcher of its own, a scope has said where its batches go: no mock wins over that. */
  #mock(way: 'fetch' | 'node:http', init: RequestInit | undefined): string | undefined {
    if (this.#options.dispatcher !== undefined) return undefined;
    return activeMock(way, (init as { dispatcher?: unknown } | undefined)?.dispatcher);
  }

  #suspect(url: string, isLate: boolean): Suspect | undefined {
    const unbatched = this.#finder.find(url);
    if (!isLate) return unbatched;
    const target = this.#router.find(url);
    if (target) return { ...scopeIsClosed, load: () => target.load(), isProvedBy: () => true };
    if (unbatched === undefined) return undefined;
    return {
      ...scopeIsClosed,
      load: () => unbatched.load(),
      isProvedBy: (headers, body) => unbatched.isProvedBy(headers, body),
    };
  }
}
