import { type BatchScript, checkScript } from '../world/batches/batch-script.ts';

/**
 * What a scripted fault does to a request.
 *
 * @example
 * ```ts
 * const action: FaultAction = { kind: 'status', status: 504, accept: true };
 * simulator.faults.add({ path: '/v1/batches', action });
 * ```
 */
export type FaultAction =
  /** Answers this status; the work is not done unless `accept` says so. */
  | {
      kind: 'status';
      status: number;
      headers?: Record<string, string>;
      body?: unknown;
      accept?: boolean;
    }
  /** Resets the connection before anything is done. */
  | { kind: 'reset' }
  /** Resets the connection after the first bytes of the request body; nothing is done. */
  | { kind: 'reset-mid-body' }
  /** Does the work, then drops the connection instead of answering. */
  | { kind: 'lost' }
  /** Drops the connection and does the work only that much later. */
  | { kind: 'late'; ms: number }
  /** Says nothing for that long, does nothing, then resets the connection. */
  | { kind: 'hang'; ms: number }
  /** Does the work and answers that much later. */
  | { kind: 'delay'; ms: number }
  /** Does the work, sends half of the response body and drops the connection. */
  | { kind: 'truncate' }
  /** Does the work and answers without a content length, in chunks. */
  | { kind: 'chunked' }
  /**
   * Does the work and answers without a content length; the end of the connection is the end of the body.
   * `cut`: only half of it comes, which looks like all of it.
   */
  | { kind: 'closing'; cut?: boolean }
  /** Does the work and sends the response body byte by byte, one every so many milliseconds. */
  | { kind: 'trickle'; ms: number }
  /** Answers in the middle of the request body with a page for people, and closes the connection. */
  | { kind: 'refuse-mid-body'; status: number }
  /** Does the work and answers 200 with something that is not JSON. */
  | { kind: 'garbage' }
  /** Does the work and compresses the response body, as gateways do without being asked. */
  | { kind: 'encoded'; encoding: 'gzip' | 'deflate' | 'br' };

/**
 * Which requests a fault strikes, and how often. Everything left out matches.
 *
 * @example
 * ```ts
 * simulator.faults.add({
 *   method: 'GET',
 *   path: /^\/v1\/files\/.*\/content$/,
 *   skip: 1,
 *   times: 3,
 *   action: { kind: 'truncate' },
 * });
 * ```
 */
export interface FaultRule {
  method?: string;
  /** The path without the provider's mount prefix; a string must match it whole. */
  path?: string | RegExp;
  provider?: string;
  /** How many requests are struck. Default 1. */
  times?: number;
  /** How many matching requests pass unharmed first. Default 0. */
  skip?: number;
  action: FaultAction;
}

/**
 * A fault that was added; tells how often it struck.
 *
 * @example
 * ```ts
 * const fault = simulator.faults.add({ path: '/v1/batches', action: { kind: 'reset' } });
 * console.log(fault.hits);
 * fault.remove();
 * ```
 */
export interface ScriptedFault {
  readonly hits: number;
  remove(): void;
}

interface LiveRule {
  rule: FaultRule;
  skip: number;
  left: number;
  hits: number;
}

/**
 * Faults on HTTP requests and outcomes of batches, scripted ahead.
 *
 * @example
 * ```ts
 * simulator.faults.add({ method: 'POST', path: '/v1/batches', action: { kind: 'lost' } });
 * simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 0.25 });
 * ```
 */
export class Faults {
  #rules: LiveRule[] = [];
  #scripts: BatchScript[] = [];

  /** Adds a fault. Rules are tried in the order they were added; the first match strikes. */
  add(rule: FaultRule): ScriptedFault {
    const live: LiveRule = { rule, skip: rule.skip ?? 0, left: rule.times ?? 1, hits: 0 };
    this.#rules.push(live);
    return {
      get hits() {
        return live.hits;
      },
      remove: () => {
        this.#rules = this.#rules.filter((other) => other !== live);
      },
    };
  }

  /** Scripts the next batch that is created; several calls queue up. */
  nextBatch(script: BatchScript): void {
    this.#scripts.push(checkScript(script));
  }

  /** Forgets all faults and scripts that have not struck yet. */
  clear(): void {
    this.#rules = [];
    this.#scripts = [];
  }

  /** @internal */
  take(request: { method: string; path: string; provider: string }): FaultAction | null {
    for (const live of this.#rules) {
      if (live.left <= 0 || !matches(live.rule, request)) continue;
      if (live.skip > 0) {
        live.skip -= 1;
        continue;
      }
      live.left -= 1;
      live.hits += 1;
      return live.rule.action;
    }
    return null;
  }

  /** @internal */
  takeScript(): BatchScript {
    return this.#scripts.shift() ?? {};
  }
}

function matches(
  rule: FaultRule,
  request: { method: string; path: string; provider: string },
): boolean {
  if (rule.method !== undefined && rule.method !== request.method) return false;
  if (rule.provider !== undefined && rule.provider !== request.provider) return false;
  if (rule.path === undefined) return true;
  // `search` ignores the state a global or sticky expression would carry between requests.
  return typeof rule.path === 'string'
    ? rule.path === request.path
    : request.path.search(rule.path) >= 0;
}
