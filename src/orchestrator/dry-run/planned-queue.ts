import { Slice } from '../../concurrency/event-loop.ts';
import { type Expectation, expectedUsage } from '../../pricing/expectation.ts';
import type { Terms } from '../../pricing/model-price.ts';
import { outputRange, type Range } from '../../pricing/output-range.ts';
import { estimateInput } from '../../pricing/token-estimate.ts';
import type { Part } from '../capture/prepare.ts';
import { factsOf } from '../events/events.ts';
import type { CapturedCall, EngineScope } from '../model/call.ts';
import { QueueTerms, withOfferedWindow } from '../queue/queue-terms.ts';
import { packFor, type Weight } from '../submit/packer.ts';
import { type DryRunQueue, noRange, type OutputBasis, plus } from './dry-run-summary.ts';

type PlannedItem = Weight & { readonly expects: Expectation };

/** What would be a queue: it counts, packs and prices, round by round, on the terms of a real one. */
export class PlannedQueue {
  readonly facts: Pick<DryRunQueue, 'provider' | 'base' | 'endpoint' | 'model'>;
  readonly #scope: EngineScope;
  readonly #queue: QueueTerms;
  /** `only` leaves its calls out: they go out one by one, at full price. */
  readonly #isLeftOut: boolean;
  readonly #terms: Terms;
  #items: PlannedItem[] = [];
  readonly #counts = {
    requests: 0,
    batches: 0,
    rounds: 0,
    oneAfterAnother: 0,
    realtime: 0,
    tooLarge: 0,
    inputTokens: 0,
  };
  #outputTokens: Range = noRange;
  readonly #basis = new Set<OutputBasis>();
  #asPlanned: Range = noRange;
  #atListPrice: Range = noRange;
  #isPriced = true;

  constructor({ target, scope }: CapturedCall, { route }: Part, isLeftOut: boolean) {
    const { batcher, wireBase } = target;
    const { endpoint, model } = route;
    const settings = scope.settings(batcher.info.name);
    const asked = { batcher, endpoint, model, policy: scope.policy, settings };
    // Calls that are left out are not asked for their completion window.
    const policy = isLeftOut ? withOfferedWindow(asked) : scope.policy;
    this.#queue = new QueueTerms({ ...asked, policy });
    this.#terms = isLeftOut ? { ...this.#queue.terms, priceShare: 1 } : this.#queue.terms;
    this.#scope = scope;
    this.#isLeftOut = isLeftOut;
    this.facts = { ...factsOf(batcher, route), base: wireBase.replace(/\?.*$/, '') };
  }

  add({ route, expects }: Part, occurrence: number): void {
    const bodyBytes = Buffer.byteLength(route.body);
    const { tokens, audioTokens: inputAudioTokens } = estimateInput(route.body, bodyBytes);
    this.#items.push({
      bytes: this.#queue.itemBytes(bodyBytes, occurrence),
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
    const isRealtime = this.#isLeftOut || items.length < this.#scope.minBatch;
    if (isRealtime) this.#counts.realtime += items.length;
    const tooLarge = new Set(isRealtime ? [] : this.#pack(items));
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
      ...this.facts,
      ...this.#counts,
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

  #price({ tokens, expects }: PlannedItem, average: number | undefined, isRealtime: boolean): void {
    const output = outputRange(expects, average);
    this.#counts.requests += 1;
    this.#counts.inputTokens += tokens;
    this.#outputTokens = plus(this.#outputTokens, output);
    // An embedding has no output to estimate.
    const { outputLimit } = expects;
    if (outputLimit !== 0) this.#basis.add(basisOf(outputLimit, average));
    const { price } = this.#queue;
    const unwritten = { ...expects, cacheWriteTokens: 0, cacheWrite1hTokens: 0 };
    const least = price.charge(expectedUsage(tokens, unwritten, output.least), this.#terms);
    const most = price.charge(expectedUsage(tokens, expects, output.most), this.#terms);
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

function basisOf(limit: number | undefined, average: number | undefined): OutputBasis {
  if (limit !== undefined) return 'limit';
  return average === undefined ? 'assumption' : 'history';
}
