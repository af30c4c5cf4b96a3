import { dollarsOf, type SimulatedPrice } from './usage/bill.ts';
import type { SimulatedUsage } from './usage/usage.ts';

/**
 * One request that a simulated model worked on.
 *
 * @example
 * ```ts
 * const seen = simulator.meter.executions.map(({ customId, body }) => ({ customId, body }));
 * ```
 */
export interface Execution {
  provider: string;
  /** Short hash of the credential and its scope, never the key. */
  key: string;
  /** Null for a realtime call. */
  batchId: string | null;
  customId: string | null;
  endpoint: string;
  model: string;
  /** The parsed request body; null when `meterBodies` is off. */
  body: unknown;
  /** SHA-256 of the body as JSON; null when `meterBodies` is off. */
  bodyHash: string | null;
  /** The tier that is billed: `batch`, `standard`, `flex`, `priority` … */
  tier: string;
  inputTokens: number;
  outputTokens: number;
  /** What its answer tells, in one shape for all providers. */
  usage: SimulatedUsage;
  /** Number of the execution, unique over the whole simulator; answers carry it. */
  n: number;
}

/**
 * An ordinary call that a service tier has refused: nothing was executed, and nothing is billed.
 *
 * @example
 * ```ts
 * const full = simulator.meter.refusals.filter(({ status }) => status === 429);
 * ```
 */
export interface RefusedCall {
  provider: string;
  /** Short hash of the credential and its scope, never the key. */
  key: string;
  model: string;
  status: number;
  /** The provider's word for the reason, where it has one. */
  code: string | null;
  /** Milliseconds since the epoch. */
  at: number;
}

/**
 * The numbers of a {@link Meter}, as plain data.
 *
 * @example
 * ```ts
 * const { total, realtime, failed } = simulator.meter.summary();
 * ```
 */
export interface MeterSummary {
  total: number;
  batched: number;
  realtime: number;
  failed: number;
  inputTokens: number;
  outputTokens: number;
  executedTwice: string[];
  /** By tier: how many executions were billed. */
  tiers: Record<string, number>;
  /** Ordinary calls that a service tier has refused. */
  refused: number;
  /** The largest number of ordinary calls that one account had under way at once. */
  mostAtOnce: number;
}

/**
 * Counts what the simulated providers would bill. Only usable answers are billed: a request
 * that failed, or whose result line was lost or spoiled by a marker, stands in `failures`.
 *
 * @example
 * ```ts
 * expect(simulator.meter.total).toBe(3);
 * expect(simulator.meter.executedTwice()).toEqual([]);
 * ```
 */
export class Meter {
  /** Billed executions, in the order they happened. */
  readonly executions: Execution[] = [];
  /** Attempts that were not billed. */
  readonly failures: Execution[] = [];
  /** Ordinary calls that a service tier has refused. */
  readonly refusals: RefusedCall[] = [];
  #last = 0;
  #underWay = new Map<string, { now: number; most: number }>();

  /** How many executions were billed, batched and realtime. */
  get total(): number {
    return this.executions.length;
  }

  /** Billed executions that ran in a batch. */
  get batched(): number {
    return this.executions.length - this.realtime;
  }

  /** Billed executions of realtime calls. */
  get realtime(): number {
    return this.executions.filter((execution) => execution.batchId === null).length;
  }

  /** Attempts that were not billed. */
  get failed(): number {
    return this.failures.length;
  }

  /** How often each custom id was billed, over all batches. */
  countByCustomId(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { customId } of this.executions) {
      if (customId !== null) counts.set(customId, (counts.get(customId) ?? 0) + 1);
    }
    return counts;
  }

  /** Custom ids that were billed more than once, over all batches. */
  executedTwice(): string[] {
    return [...this.countByCustomId()].filter(([, count]) => count > 1).map(([id]) => id);
  }

  /** By tier: how many executions were billed. */
  countByTier(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { tier } of this.executions) counts.set(tier, (counts.get(tier) ?? 0) + 1);
    return counts;
  }

  /** The largest number of ordinary calls under way at once, of one account or of whichever had the most. */
  mostAtOnce(key?: string): number {
    if (key !== undefined) return this.#underWay.get(key)?.most ?? 0;
    return [...this.#underWay.values()].reduce((most, account) => Math.max(most, account.most), 0);
  }

  /** Dollars that the providers would bill at these prices by model. Throws where a model has none. */
  dollars(prices: Readonly<Record<string, SimulatedPrice>>): number {
    return this.executions.reduce((sum, execution) => {
      const price = prices[execution.model];
      if (price === undefined) throw new TypeError(`There is no price of ${execution.model}`);
      return sum + dollarsOf(execution, price);
    }, 0);
  }

  /** The numbers as plain data. */
  summary(): MeterSummary {
    const sum = (field: 'inputTokens' | 'outputTokens') =>
      this.executions.reduce((total, execution) => total + execution[field], 0);
    return {
      total: this.total,
      batched: this.batched,
      realtime: this.realtime,
      failed: this.failed,
      inputTokens: sum('inputTokens'),
      outputTokens: sum('outputTokens'),
      executedTwice: this.executedTwice(),
      tiers: Object.fromEntries(this.countByTier()),
      refused: this.refusals.length,
      mostAtOnce: this.mostAtOnce(),
    };
  }

  /** @internal */
  nextExecution(): number {
    this.#last += 1;
    return this.#last;
  }

  /** @internal */
  enter(key: string): () => void {
    const account = this.#underWay.get(key) ?? { now: 0, most: 0 };
    this.#underWay.set(key, account);
    account.now += 1;
    account.most = Math.max(account.most, account.now);
    // To be called when the call is over.
    return () => {
      account.now -= 1;
    };
  }

  /** Forgets all executions. The numbering goes on, so that no answer ever comes twice. */
  reset(): void {
    this.executions.length = 0;
    this.failures.length = 0;
    this.refusals.length = 0;
    this.#underWay = new Map();
  }
}
