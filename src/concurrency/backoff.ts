import { longestTimer } from '../base/duration.ts';
import type { Clock, Dict } from '../base/types.ts';

/** A provider may ask for hours (a daily quota); we look again sooner, it may have been raised. */
const retryAfterCap = 15 * 60_000;

export interface BackoffOptions {
  /** 1 for the first try after a failure. */
  readonly attempt: number;
  /** Milliseconds before the second try, before jitter. */
  readonly base?: number;
  readonly cap?: number;
  /** Milliseconds the provider asked for; it knows better. */
  readonly retryAfter?: number | undefined;
  readonly random?: () => number;
}

/** Milliseconds to wait: they double with each attempt, and vary by half so that many do not come at once. */
export function backoff(options: BackoffOptions): number {
  const { attempt, base = 1_000, cap = 60_000, retryAfter, random = Math.random } = options;
  // Zero does not win: a server that always says "now" would be asked in a tight loop.
  if (retryAfter !== undefined && retryAfter > 0) return Math.min(retryAfter, retryAfterCap);
  const ceiling = Math.min(cap, base * 2 ** Math.max(0, attempt - 1));
  return Math.round(ceiling / 2 + (random() * ceiling) / 2);
}

/** The pause that `retry-after-ms` or `retry-after` (seconds or a date) asks for, in milliseconds. */
export function parseRetryAfter(headers: Dict, now: number): number | undefined {
  const milliseconds = toNumber(headers['retry-after-ms']);
  if (milliseconds !== undefined) return milliseconds;
  const value = headers['retry-after'];
  const seconds = toNumber(value);
  if (seconds !== undefined) return seconds * 1_000;
  // Date.parse reads "-5" and "7.5.1" as dates; an HTTP date begins with the day of the week.
  if (value === undefined || !/^\s*[a-z]{3,9},? /i.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** A pause on the given clock. An abort ends it with the signal's reason. */
export function sleep(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const timer = clock.setTimeout(
      () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      },
      Math.min(milliseconds, longestTimer),
    );
    function onAbort(): void {
      clock.clearTimeout(timer);
      reject(signal?.reason);
    }
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Waits for `work`, but no longer than until the abort, which rejects with its reason. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function toNumber(value: string | undefined): number | undefined {
  return value !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : undefined;
}
