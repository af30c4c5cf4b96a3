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
  inputTokens: number;
  outputTokens: number;
  /** Number of the execution, unique over the whole simulator; answers carry it. */
  n: number;
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
  #last = 0;

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
    };
  }

  /** @internal */
  nextExecution(): number {
    this.#last += 1;
    return this.#last;
  }

  /** Forgets all executions. The numbering goes on, so that no answer ever comes twice. */
  reset(): void {
    this.executions.length = 0;
    this.failures.length = 0;
  }
}
