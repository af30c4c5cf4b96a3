import { invariant } from '../../base/errors.ts';
import type { Batcher, Limits } from '../../batchers/batcher.ts';
import { givenPrice, limitsOf } from '../../batchers/limit-settings.ts';
import { Slice } from '../../concurrency/event-loop.ts';
import { type Expectation, expectedUsage } from '../../pricing/expectation.ts';
import { ModelPrice } from '../../pricing/model-price.ts';
import { outputRange, type Range } from '../../pricing/output-range.ts';
import { estimateInput } from '../../pricing/token-estimate.ts';
import type { Part } from '../capture/prepare.ts';
import type { CapturedCall, EngineScope } from '../model/call.ts';
import { itemId } from '../model/item-id.ts';
import { offeredWindow } from '../queue/queue.ts';
import { pack, type Weight } from '../submit/packer.ts';
import { type DryRunQueue, noRange, type OutputBasis, plus } from './dry-run-summary.ts';

interface PlannedItem extends Weight {
  readonly expects: Expectation;
}

/** What would be a queue: it counts, packs and prices, round by round. */
export class PlannedQueue {
  readonly #batcher: Batcher;
  readonly #scope: EngineScope;
  readonly #facts: Pick<DryRunQueue, 'provider' | 'base' | 'endpoint' | 'model'>;
  readonly #limits: Limits;
  readonly #modelPrice: ModelPrice;
  /** `only` leaves its calls out: they go out one by one, at full price. */
  readonly #isLeftOut: boolean;
  /** Of the list price. */
  readonly #share: number;
  #items: PlannedItem[] = [];
  #requests = 0;
  #batches = 0;
  #rounds = 0;
  #oneAfterAnother = 0;
  #realtime = 0;
  #tooLarge = 0;
  #inputTokens = 0;
  #outputTokens: Range = noRange;
  readonly #basis = new Set<OutputBasis>();
  #asPlanned: Range = noRange;
  #atListPrice: Range = noRange;
  #isPriced = true;

  constructor({ target, scope }: CapturedCall, { route }: Part, isLeftOut: boolean) {
    const { batcher, wireBase } = target;
    const { endpoint, model } = route;
    const { name: provider } = batcher.info;
    const settings = scope.settings(provider);
    this.#batcher = batcher;
    this.#scope = scope;
    this.#facts = { provider, base: wireBase.replace(/\?.*$/, ''), endpoint, model };
    this.#limits = limitsOf(batcher, route, settings);
    this.#modelPrice = new ModelPrice(batcher.info, model, givenPrice(settings, model));
    this.#isLeftOut = isLeftOut;
    this.#share = isLeftOut ? 1 : batchShare(this.#limits, scope);
  }

  get facts(): Pick<DryRunQueue, 'provider' | 'base' | 'endpoint' | 'model'> {
    return this.#facts;
  }

  add({ route, fingerprint, expects }: Part, occurrence: number): void {
    const { before, after } = this.#batcher.envelope(route, itemId(fingerprint, occurrence));
    const bytes = Buffer.byteLength(route.body);
    const { tokens, audioTokens: inputAudioTokens } = estimateInput(route.body, bytes);
    this.#items.push({
      bytes: before.length + bytes + after.length,
      tokens,
      units: route.units ?? 1,
      expects: { ...expects, inputAudioTokens },
    });
  }

  /** No call has come for a while: what waits would be sent now. */
  async endRound(averageOutput: () => Promise<number | undefined>): Promise<void> {
    const items = this.#items;
    this.#items = [];
    if (items.length === 0) return;
    const { minBatch } = this.#scope;
    const isRealtime = this.#isLeftOut || items.length < minBatch;
    const tooLarge = isRealtime ? this.#goRealtime(items) : this.#pack(items);
    const isAsked = items.some(({ expects }) => expects.outputLimit === undefined);
    const average = isAsked ? await averageOutput() : undefined;
    const slice = new Slice();
    for (const item of items) {
      if (slice.isOver) await slice.next();
      if (!tooLarge.has(item)) this.#price(item, average, isRealtime);
    }
  }

  summary(): DryRunQueue {
    return {
      ...this.#facts,
      requests: this.#requests,
      batches: this.#batches,
      rounds: this.#rounds,
      oneAfterAnother: this.#oneAfterAnother,
      realtime: this.#realtime,
      tooLarge: this.#tooLarge,
      inputTokens: this.#inputTokens,
      outputTokens: this.#outputTokens,
      outputBasis: [...this.#basis],
      ...(this.#isPriced && {
        dollars: { batch: this.#asPlanned, realtime: this.#atListPrice },
      }),
    };
  }

  #goRealtime(items: readonly PlannedItem[]): ReadonlySet<PlannedItem> {
    this.#realtime += items.length;
    return new Set();
  }

  #pack(items: readonly PlannedItem[]): ReadonlySet<PlannedItem> {
    const limits = this.#limits;
    const { maxInFlight = limits.inFlight, policy } = this.#scope;
    const { batchSize = limits.recommendedItems } = policy;
    const { batches, tooLarge } = pack(items, {
      ...limits,
      items: Math.min(batchSize, limits.items),
      tokens: limits.tokens ?? Number.POSITIVE_INFINITY,
      units: limits.units ?? Number.POSITIVE_INFINITY,
      frameBytes: (count) => this.#batcher.frameBytes(count),
    });
    this.#batches += batches.length;
    this.#rounds += 1;
    this.#oneAfterAnother += Math.ceil(batches.length / maxInFlight);
    this.#tooLarge += tooLarge.length;
    return new Set(tooLarge);
  }

  #price({ tokens, expects }: PlannedItem, average: number | undefined, isRealtime: boolean): void {
    const output = outputRange(expects, average);
    this.#requests += 1;
    this.#inputTokens += tokens;
    this.#outputTokens = plus(this.#outputTokens, output);
    // An embedding has no output to estimate.
    const { outputLimit } = expects;
    if (outputLimit !== 0) this.#basis.add(basisOf(outputLimit, average));
    const terms = { priceShare: this.#share, cachedInput: this.#limits.cachedInput };
    const { least: leastOutput, most: mostOutput } = output;
    const unwritten = { ...expects, cacheWriteTokens: 0, cacheWrite1hTokens: 0 };
    const least = this.#modelPrice.charge(expectedUsage(tokens, unwritten, leastOutput), terms);
    const most = this.#modelPrice.charge(expectedUsage(tokens, expects, mostOutput), terms);
    if (least === undefined || most === undefined) {
      this.#isPriced = false;
      return;
    }
    const listed = { least: least.paid + least.saved, most: most.paid + most.saved };
    const planned = isRealtime ? listed : { least: least.paid, most: most.paid };
    this.#atListPrice = plus(this.#atListPrice, listed);
    this.#asPlanned = plus(this.#asPlanned, planned);
  }
}

function batchShare(limits: Limits, { policy }: EngineScope): number {
  const window = offeredWindow(limits, policy.completionWindow);
  invariant(window, 'A call with a completion window that is not offered got into a dry run');
  return window.priceShare;
}

function basisOf(limit: number | undefined, average: number | undefined): OutputBasis {
  if (limit !== undefined) return 'limit';
  return average === undefined ? 'assumption' : 'history';
}
