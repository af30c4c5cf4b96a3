/**
 * Glossary. Code, tables, events, the CLI and the docs use these words and no synonyms.
 *
 * What users write
 * - scope: what `batchify` opens: options, its calls, its stats, its parent scope.
 * - call: one HTTP request that user code makes inside a scope. Its caller waits for the `Response`.
 *   Several callers may wait for one request, and one call may need several requests (embeddings).
 * - bypass: an LLM call inside a scope that goes out at full price, with the reason.
 * - realtime call: a captured call that batchling sends as an ordinary one (`minBatch`, `deadline`). Calls inside
 *   `realtime(fn)` are not captured at all.
 * - run: one launch of a program: all scopes of a process, and all processes that inherit its
 *   `BATCHLING_RUN`.
 *
 * What becomes of a call
 * - verdict: what the engine decides on a captured call: an answer, or that it goes out as an ordinary one.
 * - abandoned: a call whose client has lost patience and may come back. Its request stays, and a retry re-joins it.
 * - dropped: a call that is told nothing more, neither an answer nor an error: its scope has ended by an error, or
 *   the process leaves.
 *
 * What is stored
 * - ledger: the durable memory of requests, answers and batches: a SQLite file, or PostgreSQL for fleets.
 *   `:memory:` keeps it for the life of the process only.
 * - request: the durable record of what was asked: one row of the ledger, one line of a batch.
 * - fingerprint: SHA-256 over everything of a call that can change its answer. Never a credential.
 * - occurrence: the number of a call among the identical calls of its run (0, 1, 2 …). Identical calls
 *   are samples: a later run gets the answers of the same occurrences. Clients of a gateway share one
 *   process, so there identical calls count while they are under way at once.
 * - account: keyed hash of the stable identity behind a credential. The credential is never stored.
 * - answer: status, headers and body that go back to the caller.
 *
 * What is sent
 * - queue: the requests that may share a batch: same provider, endpoint, model, base, account, batch-wide headers
 *   and batching options. They wait there to be sent together, and belong to it for as long as they live.
 * - base: the service that a call goes to, as the part of its URL before the endpoint. In fingerprints its name
 *   stands for it: the host, or the key of the option `hosts`.
 * - batch: what is sent to a provider: local token, remote id, state, counts. A member is a request in it.
 * - batcher: knows the batch API of one provider; holds no state.
 * - phase: where a batch of this process is in its life (`planned` … `over`). State: what the ledger notes of a
 *   request or a batch, or what the provider says of a batch.
 * - wire: a batcher's only way to the network. Remote: the batch as the provider shows it. `Handle`: what a batcher
 *   must remember of a batch across a crash; a `CallHandle` is a captured call as the engine gives it to its scope.
 * - quota: estimated tokens an account may have under way with a model: a limit that the provider publishes, or
 *   one learnt from refusals. Slot: the right to have one more batch under way.
 * - permit: what a batch needs to be under way: tokens of its quota, and a slot.
 *
 * What does the work
 * - engine: orchestrator, open ledger and pollers; one per process and store, shared by all scopes with the same
 *   `keep` and `dispatcher`.
 * - owner: an engine as the ledger knows it. Lease: its right, with an epoch, to write about a batch.
 * - takeover: an owner is gone, and another one continues its batch.
 */

/**
 * A small map of strings: headers (lower-case names), metadata, handles.
 *
 * @example
 * const tags: Dict = { team: 'search' };
 */
export type Dict = Readonly<Record<string, string>>;

/**
 * What goes back to a caller. The body is text: every batch API carries JSON. A stream may be bytes.
 *
 * @example
 * const answer: Answer = { status: 200, headers: {}, body: '{"id":"1"}' };
 */
export interface Answer {
  readonly status: number;
  readonly headers: Dict;
  readonly body: string;
  /** The body in place of `body`: of a stream that is passed on as it comes, or that is no text. Never stored. */
  readonly bytes?: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>;
  /** The parsed body, where it has been parsed already. Never stored. */
  readonly json?: unknown;
}

/**
 * The id of one line of a batch, derived from fingerprint and occurrence.
 *
 * @example
 * const id: ItemId = line.custom_id;
 */
export type ItemId = string;

/**
 * How far a batch is, in requests.
 *
 * @example
 * const counts: Counts = { total: 100, completed: 40, failed: 1 };
 */
export interface Counts {
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
}

/**
 * What must survive a crash between staging and creating a batch (`{ fileId }`, `{ highWater }` …).
 * Only the batcher that made it reads it.
 *
 * @example
 * const handle: Handle = { fileId: 'file-123' };
 */
export type Handle = Dict;

/**
 * The source of time, so that tests can control it. `setTimeout` may return anything that
 * `clearTimeout` accepts.
 *
 * @example
 * const clock: Clock = { now: Date.now, setTimeout, clearTimeout };
 */
export interface Clock {
  now(): number;
  /** The time that others are told, where `now` may be ahead of it. Missing: `now`. */
  wall?(): number;
  setTimeout(callback: () => void, milliseconds: number): unknown;
  clearTimeout(timer: unknown): void;
}

/**
 * Where batchling writes its log lines. The default writes nowhere.
 *
 * @example
 * batchify(main, { logger: console });
 */
export interface Logger {
  debug(message: string, facts?: Readonly<Record<string, unknown>>): void;
  info(message: string, facts?: Readonly<Record<string, unknown>>): void;
  warn(message: string, facts?: Readonly<Record<string, unknown>>): void;
  error(message: string, facts?: Readonly<Record<string, unknown>>): void;
}
