import { fields, type JsonObject, parseJson } from '../../base/json.ts';
import { Slice } from '../../concurrency/event-loop.ts';
import { type Expectation, expectedUsage } from '../../pricing/expectation.ts';
import type { Terms } from '../../pricing/model-price.ts';
import { outputRange, type Range } from '../../pricing/output-range.ts';
import { type SameSize, sameSizes } from '../../pricing/request-size.ts';
import { estimateInput } from '../../pricing/token-estimate.ts';
import type { Part } from '../capture/prepare.ts';
import { factsOf } from '../events/events.ts';
import { kindKey } from '../gate/kind.ts';
import type { CapturedCall, EngineScope, Lane } from '../model/call.ts';
import { QueueTerms, withOfferedWindow } from '../queue/queue-terms.ts';
import { packFor, type Weight } from '../submit/packer.ts';
import { type DryRunQueue, noRange, type OutputBasis, plus } from './dry-run-summary.ts';

interface PlannedItem extends Weight {
  readonly expects: Expectation;
  /** Its kind, where one of each kind goes ahead of the others. */
  readonly kind: string | undefined;
}

/** What would be a queue: it counts, packs and prices, round by round, on the terms of a real one. */
export class PlannedQueue {
  readonly facts: Pick<DryRunQueue, 'provider' | 'base' | 'endpoint' | 'model'>;
  readonly #scope: EngineScope;
  readonly #queue: QueueTerms;
  /** `only` leaves its calls out: they go out one by one, at full price. */
  readonly #isLeftOut: boolean;
  #items: PlannedItem[] = [];
  readonly #counts = {
    requests: 0,
    batches: 0,
    rounds: 0,
    oneAfterAnother: 0,
    realtime: 0,
    flex: 0,
    tooLarge: 0,
    inputTokens: 0,
  };
  #outputTokens: Range = noRange;
  readonly #basis = new Set<OutputBasis>();
  #asPlanned: Range = noRange;
  #atListPrice: Range = noRange;
  #isPriced = true;
  /** The kinds of which one was sent. */
  readonly #kinds = new Set<string>();

  constructor(
    { target, scope }: Pick<CapturedCall, 'target' | 'scope'>,
    { route }: Part,
    isLeftOut: boolean,
  ) {
    const { batcher, wireBase } = target;
    const { endpoint, model } = route;
    const settings = scope.settings(batcher.info.name);
    const asked = { batcher, endpoint, model, policy: scope.policy, settings };
    // Calls that are left out are not asked for their completion window.
    const policy = isLeftOut ? withOfferedWindow(asked) : scope.policy;
    this.#queue = new QueueTerms({ ...asked, policy });
    this.#scope = scope;
    this.#isLeftOut = isLeftOut;
    this.facts = { ...factsOf(batcher, route), base: wireBase.replace(/\?.*$/, '') };
  }

  /** `json`: the body, where it is parsed already. */
  add({ route, expects }: Part, occurrence: number, json?: JsonObject): void {
    const { batcher } = this.#queue;
    const bodyBytes = Buffer.byteLength(route.body);
    const { tokens, audioTokens } = estimateInput(route.body, bodyBytes);
    this.#items.push({
      bytes: this.#queue.itemBytes(bodyBytes, occurrence),
      tokens,
      units: route.units ?? 1,
      expects: audioTokens > 0 ? { ...expects, inputAudioTokens: audioTokens } : expects,
      kind: this.#scope.canary
        ? kindKey(batcher, json ?? fields(parseJson(route.body)))
        : undefined,
    });
  }

  /** No call has come for a while: what waits would be sent now. */
  async endRound(averageOutput: () => Promise<number | undefined>): Promise<void> {
    const items = this.#items;
    this.#items = [];
    if (items.length === 0) return;
    const lane = this.#laneOf(items.length);
    if (lane !== 'batch') this.#counts[lane] += items.length;
    const tooLarge = new Set(lane === 'batch' ? this.#pack(items) : []);
    const isAsked = items.some(({ expects }) => expects.outputLimit === undefined);
    const average = isAsked ? await averageOutput() : undefined;
    const sent = tooLarge.size === 0 ? items : items.filter((item) => !tooLarge.has(item));
    const canaries = lane === 'batch' ? sent.filter((item) => this.#isCanary(item)) : [];
    const alone = new Set(this.#scope.canary === 'call' ? canaries : []);
    const others = alone.size === 0 ? sent : sent.filter((item) => !alone.has(item));
    const slice = new Slice();
    for (const size of sameSizes(others)) {
      if (slice.isOver) await slice.next();
      this.#price(size, average, this.#termsOf(lane));
    }
    for (const size of sameSizes(alone)) this.#price(size, average, this.#termsOf('realtime'));
  }

  /** Whether it goes ahead of the others of its kind, as far as can be known: the ledger may know the kind. */
  #isCanary({ kind }: PlannedItem): boolean {
    if (kind === undefined || this.#kinds.has(kind)) return false;
    this.#kinds.add(kind);
    return true;
  }

  /** The lane of so many requests that come together. What a model refuses is known when it is asked. */
  #laneOf(count: number): Lane {
    const { policy, minBatch, onSmallBatch } = this.#scope;
    if (this.#isLeftOut) return 'realtime';
    const { leastItems = 1 } = this.#queue.limits;
    const isTooFew = count < Math.max(minBatch, leastItems);
    const wanted = policy.lane === 'batch' && isTooFew ? onSmallBatch : policy.lane;
    const hasNoFlex = wanted === 'flex' && !this.#queue.batcher.flex(this.#queue);
    if (hasNoFlex) return count < leastItems ? 'realtime' : 'batch';
    return wanted;
  }

  #termsOf(lane: Lane): Terms {
    if (lane === 'batch') return this.#queue.terms;
    const tier = lane === 'flex' ? this.#queue.batcher.flex(this.#queue) : undefined;
    return tier ?? fullPrice;
  }

  summary(): DryRunQueue {
    return {
      ...this.facts,
      ...this.#counts,
      ...(this.#kinds.size > 0 && { canaries: this.#kinds.size }),
      outputTokens: this.#outputTokens,
      outputBasis: [...this.#basis],
      ...(this.#isPriced && {
        dollars: { batch: this.#asPlanned, realtime: this.#atListPrice },
      }),
    };
  }

  /** Returns what is too large for a batch. */
  #pack(items: readonly PlannedItem[]): readonly PlannedItem[] {
    const queue = this.#queue;
    const { batches, tooLarge } = packFor(queue, items, queue.limits.tokens);
    const counts = this.#counts;
    counts.batches += batches.length;
    counts.rounds += 1;
    counts.oneAfterAnother += Math.ceil(batches.length / queue.mostInFlight([this.#scope]));
    counts.tooLarge += tooLarge.length;
    return tooLarge;
  }

  #price({ tokens, expects, count }: SameSize, average: number | undefined, terms: Terms): void {
    const output = outputRange(expects, average);
    this.#counts.requests += count;
    this.#counts.inputTokens += tokens * count;
    this.#outputTokens = plus(this.#outputTokens, output, count);
    // An embedding has no output to estimate.
    const { outputLimit } = expects;
    if (outputLimit !== 0) this.#basis.add(basisOf(outputLimit, average));
    const { price } = this.#queue;
    const unwritten = { ...expects, cacheWriteTokens: 0, cacheWrite1hTokens: 0 };
    const least = price.charge(expectedUsage(tokens, unwritten, output.least), terms);
    const most = price.charge(expectedUsage(tokens, expects, output.most), terms);
    if (least === undefined || most === undefined) {
      this.#isPriced = false;
      return;
    }
    const listed = { least: least.paid + least.saved, most: most.paid + most.saved };
    const planned = { least: least.paid, most: most.paid };
    this.#atListPrice = plus(this.#atListPrice, listed, count);
    this.#asPlanned = plus(this.#asPlanned, planned, count);
  }
}

const fullPrice: Terms = { priceShare: 1 };

function basisOf(limit: number | undefined, average: number | undefined): OutputBasis {
  if (limit !== undefined) return 'limit';
  return average === undefined ? 'assumption' : 'history';
}
