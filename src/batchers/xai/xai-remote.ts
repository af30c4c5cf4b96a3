import { field, fields, text } from '../../base/json.ts';
import type { Wire } from '../../http/wire.ts';
import type { BatchFailure, Remote } from '../batcher.ts';
import { idOf } from '../shared/reply-shapes.ts';

/** What only a poll knows about the batch that it asks for. */
export interface Polled {
  readonly now: number;
  /** Requests that were sent with it. */
  readonly sent: number;
}

/** Counters of a cancelled batch have been seen to turn from "cancelled" to "success" after 20 seconds. */
const settlesWithin = 30_000;
/** Nothing that a cancel found running runs for as long as this. */
const longestRun = 3_600_000;

interface Counters {
  /** Grows while xAI reads the file, so by itself it says nothing about the end. */
  readonly total: number;
  readonly pending: number;
  readonly success: number;
  readonly error: number;
  readonly cancelled: number;
}

const none: Counters = { total: 0, pending: 0, success: 0, error: 0, cancelled: 0 };

/**
 * xAI's batch object in our words. It has no status: the counters and three dates have to say it all. Without
 * `polled` it is not known how many requests were sent, and the batch is never taken for ended.
 */
export function toXaiRemote(
  batch: unknown,
  { redact }: Pick<Wire, 'redact'>,
  polled?: Polled,
): Remote {
  const id = idOf({ id: field(batch, 'batch_id') }, 'a batch');
  const counters = countersOf(field(batch, 'state'));
  const { total, pending, success, error, cancelled } = counters ?? none;
  const ran = success + error;
  const said = text(field(batch, 'cancel_by_xai_message'));
  const message = said === undefined ? undefined : redact(said);
  // What xAI has cancelled is over, even if it does not say since when.
  const cancelTime = text(field(batch, 'cancel_time')) ?? (message && 'unknown');
  const isCancelled = cancelTime !== undefined;
  const isRefused = message !== undefined && ran === 0;
  const sent = polled?.sent ?? Number.POSITIVE_INFINITY;
  const isDone = total > 0 && pending === 0 && ran + (isCancelled ? 0 : cancelled) >= sent;
  const isSettled = elapsed(cancelTime, polled) >= (pending === 0 ? settlesWithin : longestRun);
  const isExpired = !isDone && !isCancelled && elapsed(field(batch, 'expire_time'), polled) >= 0;
  const isEnded = isRefused || isDone || isSettled || isExpired;
  return {
    id,
    state: isEnded ? 'ended' : isCancelled ? 'cancelling' : total > 0 ? 'running' : 'queued',
    raw: rawOf({ message, isCancelled, isExpired, total, pending }),
    // Counters that are missing prove nothing: looking at the results does.
    readable: isEnded || counters === undefined || ran > 0,
    sources: message === undefined ? {} : { cancelledBecause: message },
    ...(counters && { counts: { total, completed: success, failed: error } }),
    ...(isRefused && { failure: refusalOf(message) }),
    ...(isCancelled && { unfinished: 'cancelled' }),
    ...(isExpired && { unfinished: 'expired' }),
  };
}

function countersOf(state: unknown): Counters | undefined {
  const { num_requests: total, ...others } = fields(state);
  if (numberOf(total) === undefined) return undefined;
  const of = (name: string) => numberOf(others[name]) ?? 0;
  return {
    total: numberOf(total) ?? 0,
    pending: of('num_pending'),
    success: of('num_success'),
    error: of('num_error'),
    cancelled: of('num_cancelled'),
  };
}

/** Proto JSON writes long integers as strings. */
function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Milliseconds since this date. One that is no date has passed, one that is missing has not. */
function elapsed(date: unknown, polled: Polled | undefined): number {
  if (polled === undefined || text(date) === undefined) return Number.NEGATIVE_INFINITY;
  const at = Date.parse(String(date));
  return Number.isNaN(at) ? Number.POSITIVE_INFINITY : polled.now - at;
}

interface Shown {
  readonly message: string | undefined;
  readonly isCancelled: boolean;
  readonly isExpired: boolean;
  readonly total: number;
  readonly pending: number;
}

/** xAI has no word for the state of a batch, so this one is made of what it shows. */
function rawOf({ message, isCancelled, isExpired, total, pending }: Shown): string {
  if (message !== undefined) return 'cancelled by xAI';
  if (isCancelled) return 'cancelled';
  if (isExpired) return 'expired';
  return total === 0 ? 'no requests yet' : `${pending} of ${total} pending`;
}

/** "JSONL file validation failed: line 2: invalid JSON: …". All lines of a batch ask for the same model. */
function refusalOf(message: string): BatchFailure {
  const answer = cancelledAnswer(message);
  const lines = [...message.matchAll(/\bline (\d+)\b/gi)].map(([, line]) => Number(line));
  const isModel = /\bmodel\b.*\bnot supported\b/i.test(message);
  const common = { code: 'batch_cancelled', message, meaning: 'refused' as const, answer };
  if (isModel || lines.length === 0) return { ...common, next: 'fail' };
  return { ...common, next: 'isolate', bad: lines.map((line) => ({ line, answer })) };
}

/** What callers get of a batch that xAI itself has cancelled. */
export function cancelledAnswer(message: string) {
  return {
    status: 400,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code: 'batch_cancelled', error: message }),
  };
}
