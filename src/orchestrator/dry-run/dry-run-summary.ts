import type { Range } from '../../pricing/output-range.ts';

/** What the output of answers was estimated by. */
export type OutputBasis =
  /** The most tokens that the requests themselves allow. */
  | 'limit'
  /** Past answers of the same model, in the ledger. */
  | 'history'
  /** Nothing is known: see `assumedOutput`. */
  | 'assumption';

/** Dollars; missing where no price is known. */
export interface DryRunDollars {
  /** As planned: in batches, or as ordinary calls where `lane`, `minBatch` or `only` says so. */
  readonly batch: Range;
  /** The same calls without batchling. */
  readonly realtime: Range;
}

/** What one queue would send. */
export interface DryRunQueue {
  readonly provider: string;
  readonly base: string;
  readonly endpoint: string;
  readonly model: string;
  /** Requests that would be sent. A call may need several. */
  readonly requests: number;
  readonly batches: number;
  /** How often calls came after the answers to the ones before; only a deep dry run sees more than one. */
  readonly rounds: number;
  /** How many batches run one after another: those of later rounds, and those that wait for `maxInFlight`. */
  readonly oneAfterAnother: number;
  /** Requests that would go out at full price: by `lane`, by `only`, or because fewer than `minBatch` came together. */
  readonly realtime: number;
  /** Requests that would go out one by one in the provider's half-price tier. */
  readonly flex: number;
  /** Requests that would go ahead of the others of their kind, at most; missing without a canary. */
  readonly canaries?: number;
  /** Requests that are larger than a batch may be. */
  readonly tooLarge: number;
  /** Estimated tokens. */
  readonly inputTokens: number;
  readonly outputTokens: Range;
  readonly outputBasis: readonly OutputBasis[];
  readonly dollars?: DryRunDollars;
}

/** What a dry run has seen: what would be sent, and what it may cost. */
export interface DryRunSummary {
  /** It went on after the first round, with placeholder answers. */
  readonly deep: boolean;
  /** Calls that were captured. */
  readonly calls: number;
  /** How many of these the ledger answers: they cost nothing. */
  readonly fromLedger: number;
  /** How many of these are in a batch of another run already: they cost nothing more. */
  readonly underWay: number;
  /** How many of these the option `only` leaves out: they would go out at full price. */
  readonly leftOut: number;
  /** LLM calls that cannot be batched. They were not sent, and are not in the sums. */
  readonly bypassed: number;
  readonly queues: readonly DryRunQueue[];
  readonly batches: number;
  readonly inputTokens: number;
  readonly outputTokens: Range;
  /** The sum over all queues with a known price. */
  readonly dollars: DryRunDollars;
  /** Provider and model of queues without a known price. */
  readonly unpriced: readonly string[];
}

export const noRange: Range = { least: 0, most: 0 };

export function plus(one: Range, other: Range, count = 1): Range {
  return { least: one.least + other.least * count, most: one.most + other.most * count };
}

/** Adds the queues up. */
export function summaryOf(
  counts: Pick<
    DryRunSummary,
    'deep' | 'calls' | 'fromLedger' | 'underWay' | 'leftOut' | 'bypassed'
  >,
  queues: readonly DryRunQueue[],
): DryRunSummary {
  let batches = 0;
  let inputTokens = 0;
  let outputTokens = noRange;
  let batch = noRange;
  let realtime = noRange;
  const unpriced = new Set<string>();
  for (const queue of queues) {
    batches += queue.batches;
    inputTokens += queue.inputTokens;
    outputTokens = plus(outputTokens, queue.outputTokens);
    if (queue.dollars === undefined) unpriced.add(`${queue.provider} ${queue.model}`);
    batch = plus(batch, queue.dollars?.batch ?? noRange);
    realtime = plus(realtime, queue.dollars?.realtime ?? noRange);
  }
  const dollars = { batch, realtime };
  const sums = { batches, inputTokens, outputTokens, dollars, unpriced: [...unpriced] };
  return { ...counts, queues, ...sums };
}

/** The dry runs of several processes as one. */
export function joinedSummary(summaries: readonly DryRunSummary[]): DryRunSummary {
  const queues = new Map<string, DryRunQueue>();
  const counts = { deep: false, calls: 0, fromLedger: 0, underWay: 0, leftOut: 0, bypassed: 0 };
  for (const summary of summaries) {
    counts.deep ||= summary.deep;
    counts.calls += summary.calls;
    counts.fromLedger += summary.fromLedger;
    counts.underWay += summary.underWay;
    counts.leftOut += summary.leftOut;
    counts.bypassed += summary.bypassed;
    for (const queue of summary.queues) {
      const { provider, base, endpoint, model } = queue;
      const key = JSON.stringify([provider, base, endpoint, model]);
      const known = queues.get(key);
      queues.set(key, known ? joinedQueue(known, queue) : queue);
    }
  }
  return summaryOf(counts, [...queues.values()]);
}

/** Each process sends batches of its own, so these add up, too. */
function joinedQueue(one: DryRunQueue, other: DryRunQueue): DryRunQueue {
  const { dollars: _dollars, ...facts } = one;
  return {
    ...facts,
    requests: one.requests + other.requests,
    batches: one.batches + other.batches,
    // Processes run at the same time, as far as is known.
    rounds: Math.max(one.rounds, other.rounds),
    oneAfterAnother: Math.max(one.oneAfterAnother, other.oneAfterAnother),
    realtime: one.realtime + other.realtime,
    flex: one.flex + other.flex,
    ...((one.canaries ?? other.canaries) !== undefined && {
      canaries: (one.canaries ?? 0) + (other.canaries ?? 0),
    }),
    tooLarge: one.tooLarge + other.tooLarge,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: plus(one.outputTokens, other.outputTokens),
    outputBasis: [...new Set([...one.outputBasis, ...other.outputBasis])],
    ...(one.dollars &&
      other.dollars && {
        dollars: {
          batch: plus(one.dollars.batch, other.dollars.batch),
          realtime: plus(one.dollars.realtime, other.dollars.realtime),
        },
      }),
  };
}
