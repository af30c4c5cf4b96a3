import { BatchlingError } from '../../base/errors.ts';
import type { Dict } from '../../base/types.ts';
import type { Batcher } from '../../batchers/batcher.ts';
import type { RegisteredBatcher } from '../../batchers/registry.ts';
import type { HookedCall, RequestPlan } from '../../hooks/border.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import type { Router } from '../../orchestrator/capture/router.ts';
import { UnbatchedFinder } from '../../orchestrator/capture/unbatched.ts';
import type { Bypasses, BypassReason } from './bypasses.ts';
import { deliverOwn } from './own-delivery.ts';

/** A call that may be an LLM call, by its URL. */
interface Suspect extends BypassReason {
  /** The URL alone says that it is one. */
  readonly isCertain: boolean;
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

const checksServer: BypassReason = {
  reason: 'its client checks the certificate of the server itself, and a batch has none to show',
  cure: 'Leave that check to Node, or wrap the call in realtime() to say that this is meant.',
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

  /** Whether a request may be an LLM call, although no batcher captures it. */
  isSuspect(url: string, contentType: unknown): boolean {
    const unbatched = this.#finder.find(url);
    return unbatched !== undefined && (unbatched.isCertain || isJson(contentType));
  }

  /**
   * A request of `node:http` keeps its real socket, and is judged as its bytes go by. Only one that must not
   * go out, and is known by its URL, gets a fake socket, on which its client is told so.
   */
  plan(url: string, isLate: boolean, isChecked: boolean): RequestPlan {
    const suspect = this.#suspect(url, isLate, isChecked);
    if (suspect === undefined) return 'leave';
    const { isCertain } = suspect;
    if (isCertain && this.#bypasses.areRefused) return 'hold';
    return { isCertain, judge: (headers, start) => this.#judge(url, suspect, headers, start) };
  }

  #judge(url: string, suspect: Suspect, headers: Dict, start: string): Error | undefined {
    const isMaybe = suspect.isCertain || isJson(headers['content-type']);
    if (!isMaybe || !suspect.isProvedBy(headers, start)) return undefined;
    const refusal = this.#bypasses.report(url, suspect);
    return refusal === undefined ? undefined : new BatchlingError('UNSUPPORTED', refusal);
  }

  /** `undefined`: the call is none of ours. `isLate`: the scope is closed. */
  handle<Result>(call: HookedCall<Result>, isLate: boolean): Promise<Result> | undefined {
    const { url } = call;
    const suspect = this.#suspect(url, isLate, call.checksServer);
    if (suspect === undefined) return undefined;
    const headers = call.readHeaders();
    if (headers === undefined) return undefined;
    if (headers['x-batchling'] === 'off') return call.send();
    if (!suspect.isProvedBy(headers, call.textOfBody()) || call.signal?.aborted) return undefined;
    if (call.findMock?.() !== undefined && this.#options.dispatcher === undefined)
      return call.send();
    const refused = this.#bypasses.report(url, suspect);
    return refused === undefined ? call.send() : this.#refuse(call, suspect, refused);
  }

  async #refuse<Result>(call: HookedCall<Result>, suspect: Suspect, why: string): Promise<Result> {
    return deliverOwn(call, call.url, this.#bypasses.refusal(await suspect.load(), why));
  }

  /** Reports a request that has left without passing the hooks, if its URL is that of an LLM call. */
  escaped(url: string): void {
    const unbatched = this.#router.find(url) ? undefined : this.#finder.find(url);
    if (unbatched?.isCertain ?? this.#router.find(url)) this.#bypasses.escaped(url, unbatched);
  }

  #suspect(url: string, isLate: boolean, isChecked = false): Suspect | undefined {
    const unbatched = this.#finder.find(url);
    if (!isLate && !isChecked) return unbatched;
    const target = this.#router.find(url);
    const known = target && { load: () => target.load(), isProvedBy: () => true, isCertain: true };
    if (!isLate) return known ? { ...known, ...checksServer } : unbatched;
    const late = known ?? unbatched;
    return (
      late && {
        ...scopeIsClosed,
        isCertain: late.isCertain,
        load: () => late.load(),
        isProvedBy: (headers, body) => late.isProvedBy(headers, body),
      }
    );
  }
}

function isJson(contentType: unknown): boolean {
  return /json/i.test(String(contentType));
}
