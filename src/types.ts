/**
 * The words of batchling. Code, tables, events, the CLI and the docs use these and no synonyms.
 *
 * - call: one HTTP request made by user code inside a scope; a caller waits for its Response.
 * - scope: what `batchify` opens: options, its calls, its stats, its parent.
 * - run: one launch of a program: all scopes of a process, and all processes that inherit
 *   `BATCHLING_RUN`.
 * - request: the durable record of a call.
 * - fingerprint: SHA-256 over everything of a call that can change its answer.
 * - occurrence: how often this run has asked that fingerprint. n identical calls are n samples.
 * - account: keyed hash of the credential's stable identity.
 * - queue: calls that wait under one queue key until they are flushed.
 * - batch: what is sent to a provider: local token, remote id, state, counts.
 * - batcher: knows one provider's batch wire; holds no state.
 * - engine: orchestrator + ledger handle + pollers; one per process and store.
 * - ledger: the durable memory of requests, answers and batches.
 * - answer: status + headers + body that goes back to the caller.
 * - bypass: an in-scope LLM call that goes out at full price, with its reason.
 */

/** A small map of strings: headers (lower-case names), metadata, handles. */
export type Dict = Readonly<Record<string, string>>;

/** What goes back to a caller. The body is text: every batch wire carries JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Dict;
  readonly body: string;
  /** The parsed body, where somebody has parsed it already. Never stored. */
  readonly json?: unknown;
}

/** The id of one line of a batch, derived from fingerprint and occurrence. */
export type ItemId = string;

/** How far a batch is, in requests. */
export interface Counts {
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
}

/**
 * What must survive a crash between staging and creating a batch (`{ fileId }`, `{ highWater }` …).
 * Opaque to everything but the batcher that made it.
 */
export type Handle = Dict;

/**
 * Time, passed in so that tests own it. `setTimeout` may return anything `clearTimeout` accepts.
 *
 * @example
 * const clock: Clock = { now: Date.now, setTimeout, clearTimeout };
 */
export interface Clock {
  now(): number;
  setTimeout(callback: () => void, milliseconds: number): unknown;
  clearTimeout(timer: unknown): void;
}

/**
 * Where batchling writes its own log lines. Silent by default.
 *
 * @example
 * batchify(fn, { logger: console });
 */
export interface Logger {
  debug(message: string, facts?: Readonly<Record<string, unknown>>): void;
  info(message: string, facts?: Readonly<Record<string, unknown>>): void;
  warn(message: string, facts?: Readonly<Record<string, unknown>>): void;
  error(message: string, facts?: Readonly<Record<string, unknown>>): void;
}
