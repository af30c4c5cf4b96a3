import { parseDuration } from '../../base/duration.ts';
import { invariant } from '../../base/errors.ts';
import type { Dict } from '../../base/types.ts';
import type { Batcher, CompletionWindow, Limits, Route } from '../../batchers/batcher.ts';
import { givenPrice, limitsOf } from '../../batchers/limit-settings.ts';
import type { Settings } from '../../batchers/provider-info.ts';
import { ModelPrice, type Terms } from '../../pricing/model-price.ts';
import type { CapturedCall, EngineScope, Policy } from '../model/call.ts';
import { itemId } from '../model/request.ts';

/** What decides about the terms of a queue. All of it is part of the queue key. */
export interface TermsOf {
  readonly batcher: Batcher;
  readonly endpoint: string;
  readonly model: string;
  readonly policy: Policy;
  /** What the option `providers` says of this provider. */
  readonly settings: Settings;
}

const anyFingerprint = new Uint8Array(32);

/**
 * The terms on which a queue sends: limits, prices and sizes of its batches. The queues of the engine and those of a
 * dry run have them, so that a dry run packs and prices as the engine does.
 */
export class QueueTerms {
  readonly batcher: Batcher;
  readonly endpoint: string;
  readonly model: string;
  readonly policy: Policy;
  readonly limits: Limits;
  readonly completionWindow: CompletionWindow;
  readonly price: ModelPrice;
  readonly terms: Terms;
  /** The most requests of one batch. */
  readonly batchSize: number;
  readonly #envelopes: number[] = [];

  constructor({ batcher, endpoint, model, policy, settings }: TermsOf) {
    this.batcher = batcher;
    this.endpoint = endpoint;
    this.model = model;
    this.policy = policy;
    const limits = limitsOf(batcher, { endpoint, model }, settings);
    this.limits = limits;
    this.price = new ModelPrice(batcher.info, model, givenPrice(settings, model));
    const offered = offeredWindow(limits, policy.completionWindow);
    invariant(offered, 'A call with a completion window that is not offered got into a queue');
    this.completionWindow = offered;
    this.terms = { priceShare: offered.priceShare, cachedInput: limits.cachedInput };
    const wanted = Math.max(policy.batchSize ?? limits.recommendedItems, limits.leastItems ?? 1);
    this.batchSize = Math.min(wanted, limits.items);
  }

  /** The size of an item: its body, and what the format puts around a body with this occurrence. */
  itemBytes(bodyBytes: number, occurrence: number): number {
    const digits = String(occurrence).length;
    this.#envelopes[digits] ??= this.#envelopeBytes(10 ** (digits - 1));
    return (this.#envelopes[digits] as number) + bodyBytes;
  }

  #envelopeBytes(occurrence: number): number {
    const { before, after } = this.batcher.envelope(this, itemId(anyFingerprint, occurrence));
    return before.length + after.length;
  }

  /** The most careful scope decides how many batches the account may have under way. */
  mostInFlight(scopes: Iterable<EngineScope>): number {
    let least = Number.POSITIVE_INFINITY;
    const { inFlight } = this.limits;
    for (const { maxInFlight = inFlight } of scopes) least = Math.min(least, maxInFlight);
    return Number.isFinite(least) ? least : inFlight;
  }
}

/** The window of this length, in milliseconds, if the provider offers one. */
export function offeredWindow(
  { windows }: Pick<Limits, 'windows'>,
  asked: number,
): CompletionWindow | undefined {
  for (const duration in windows) if (parseDuration(duration) === asked) return windows[duration];
  return undefined;
}

/** The policy, with a completion window that the provider offers: for what is not to be sent in that window. */
export function withOfferedWindow({ batcher, endpoint, model, policy, settings }: TermsOf): Policy {
  const limits = limitsOf(batcher, { endpoint, model }, settings);
  if (offeredWindow(limits, policy.completionWindow)) return policy;
  const [first] = Object.keys(limits.windows);
  return first === undefined ? policy : { ...policy, completionWindow: parseDuration(first) };
}

/** Calls with the same key share a queue. `account`: where credentials are told apart. */
export function queueKey(
  { target, scope }: Pick<CapturedCall, 'target' | 'scope'>,
  route: Route,
  account?: number,
): string {
  let key = `${target.batcher.info.name}\n${route.endpoint}\n${route.model}\n${target.wireBase}`;
  key += `\n${account}\n${scope.policyKey}\n${route.partition ?? ''}`;
  for (const name in route.batchHeaders) key += `\n${name}: ${route.batchHeaders[name]}`;
  return key;
}

/** Whether calls with these headers may share a batch. */
export function areSameHeaders(one: Dict, other: Dict): boolean {
  for (const name in one) if (one[name] !== other[name]) return false;
  for (const name in other) if (!(name in one)) return false;
  return true;
}
