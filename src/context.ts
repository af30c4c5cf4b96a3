import { BatchlingError } from './errors.ts';
import { askScope, plainFetch } from './hooks/fetch.ts';
import { areHooksInPlace, installHooks } from './hooks/install.ts';
import {
  type Fetch,
  type HookScope,
  type RawAnswer,
  type RawRequest,
  type RealtimeMark,
  type Surroundings,
  sharedState,
} from './hooks/state.ts';
import {
  type BatchifyOptions,
  inheritedRun,
  type ResolvedOptions,
  resolveOptions,
} from './options.ts';
import type { BatchlingEventName, BatchlingEvents } from './orchestrator/events.ts';
import type { Stats } from './orchestrator/stats.ts';
import { followGenerator } from './returned-generator.ts';
import { ScopeCalls } from './scope-calls.ts';

/**
 * A scope: while it is entered, LLM calls made through any SDK are captured and batched.
 *
 * @example
 * await using scope = batchify({ window: '5s' });
 * const answers = await Promise.all(prompts.map(ask));
 */
export class BatchingContext implements HookScope {
  readonly parent: Surroundings | undefined;
  readonly hooked: boolean;
  readonly #options: ResolvedOptions;
  readonly #calls: ScopeCalls;
  readonly #undoHooks: (() => void)[] = [];
  /** `ended`: by an error or the signal. Its code may still run, and must not spend at full price. */
  #state: 'open' | 'closing' | 'closed' | 'ended' = 'open';
  #closing: Promise<void> | undefined;

  /**
   * A `fetch` that captures, wherever it is called from. Can be passed bare to any SDK.
   *
   * @example
   * const openai = new OpenAI({ fetch: scope.fetch });
   */
  readonly fetch: Fetch = (...parameters) => askScope(this, plainFetch(), undefined, parameters);

  /** Use `batchify`. */
  constructor(given: unknown, hooks: boolean) {
    const { scopes } = sharedState();
    this.parent = scopes.getStore();
    this.#options = resolveOptions(given, inheritedOptions(this.parent));
    refuseUnbuilt(this.#options);
    // Asked for when the engine opens; by then a bad name could only be told to a caller.
    inheritedRun();
    this.#calls = new ScopeCalls(this.#options);
    this.hooked = hooks && this.#options.hooks;
    this.#hook(true);
    optionsOf.set(this, this.#options);
    const { signal } = this.#options;
    if (signal?.aborted) this.#abort();
    else signal?.addEventListener('abort', this.#abort, { once: true });
  }

  get open(): boolean {
    return this.#state !== 'closed';
  }

  /**
   * What the scope has done so far.
   *
   * @example
   * console.log(scope.stats.answered, 'of', scope.stats.captured);
   */
  get stats(): Stats {
    return this.#calls.events.snapshot();
  }

  /**
   * Runs a function inside the scope. The scope stays open afterwards.
   *
   * @example
   * const answer = await scope.run(() => ask('hello'));
   */
  run<T>(fn: () => T): T {
    this.#assertOpen();
    this.#hook();
    return sharedState().scopes.run(this, fn);
  }

  /**
   * The same function, always run inside the scope: for callbacks that lose their context, such as
   * listeners of an emitter or jobs of a worker pool started elsewhere.
   *
   * @example
   * emitter.on('job', scope.bind(handleJob));
   */
  bind<This, Parameters extends unknown[], Result>(
    fn: (this: This, ...parameters: Parameters) => Result,
  ): (this: This, ...parameters: Parameters) => Result {
    const { scopes } = sharedState();
    const scope = this;
    return function bound(this: This, ...parameters: Parameters) {
      scope.#hook();
      return scopes.run(scope, () => Reflect.apply(fn, this, parameters));
    };
  }

  /**
   * Flushes the scope's queues now, without waiting for company. Does not wait for the answers.
   *
   * @example
   * await scope.flush();
   */
  flush(): Promise<void> {
    return this.#calls.flush();
  }

  /**
   * Ends every waiting call with status 499 and cancels its batches at the provider.
   *
   * @example
   * process.once('SIGUSR2', () => scope.cancel());
   */
  cancel(): Promise<void> {
    return this.#calls.cancel('The scope was cancelled.', true);
  }

  /**
   * Listens to an event; returns the unsubscribe function.
   *
   * @example
   * const off = scope.on('batch:submitted', ({ batch, count }) => console.log(batch, count));
   */
  on<Name extends BatchlingEventName>(
    name: Name,
    listener: (event: BatchlingEvents[Name]) => void,
  ): () => void {
    return this.#calls.events.on(name, listener);
  }

  /**
   * Flushes, waits for every answer, then closes the scope. A second call gets the same promise.
   *
   * @example
   * await scope.close();
   */
  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  /**
   * A getter on purpose: reading it, as `await using` does, is what enters the scope; creating the
   * object enters nothing. Disposing leaves first and then closes, in one synchronous step, because
   * a context changed after an `await` would be restored in the wrong place.
   */
  get [Symbol.asyncDispose](): () => Promise<void> {
    this.#assertOpen();
    this.#hook();
    const { scopes } = sharedState();
    const before = scopes.getStore();
    scopes.enterWith(this);
    return () => {
      scopes.enterWith(before as Surroundings);
      return this.close();
    };
  }

  /** For the hooks. */
  handleFetch(passOn: Fetch, input: string | URL | Request, init?: RequestInit): Promise<Response> {
    return this.#calls.handleFetch(passOn, input, init, !this.open);
  }

  /** For the hooks. */
  mayCapture(method: string, url: string, contentType?: unknown): boolean {
    return this.#calls.mayCapture(method, url, contentType);
  }

  /** For the hooks. */
  escaped(url: string): void {
    if (this.open) this.#calls.escaped(url);
  }

  /** For the hooks. */
  leaveToMock(url: string): boolean {
    return this.#calls.leaveToMock(url);
  }

  /** For the hooks. */
  handleRequest(request: RawRequest, signal: AbortSignal): Promise<RawAnswer | undefined> {
    return this.#calls.handleRequest(request, signal, !this.open);
  }

  /** The scope's function threw: nothing more is spent, and nobody is kept waiting. */
  abandon(): void {
    if (this.#state === 'closed' || this.#state === 'ended') return;
    this.#state = 'ended';
    this.#unhook();
    this.#closing ??= Promise.resolve();
    this.#calls.abandon();
  }

  /** At each entry: another library may have put its own fetch in place since. */
  #hook(first = false): void {
    if (this.hooked && this.open && (first || !areHooksInPlace()))
      this.#undoHooks.push(installHooks());
  }

  #unhook(): void {
    this.#options.signal?.removeEventListener('abort', this.#abort);
    for (const undo of this.#undoHooks.splice(0)) undo();
  }

  async #finish(): Promise<void> {
    if (this.#state === 'closed' || this.#state === 'ended') return;
    this.#state = 'closing';
    await this.#calls.finish(() => {
      this.#state = 'closed';
      this.#unhook();
    });
  }

  readonly #abort = (): void => {
    if (this.#state === 'closed' || this.#state === 'ended') return;
    this.#state = 'ended';
    this.#unhook();
    this.#closing ??= Promise.resolve();
    this.#calls.abort(this.#options.signal?.reason);
  };

  #assertOpen(): void {
    if (this.#state === 'open' || this.#state === 'closing') return;
    throw new BatchlingError(
      'SCOPE_CLOSED',
      'The scope is closed. Open a new one with batchify().',
    );
  }
}

/** Options of the contract that no code stands behind yet: better refused than ignored. */
function refuseUnbuilt({ budget, dryRun, providers }: ResolvedOptions): void {
  const asked = Object.entries({
    budget: budget !== undefined,
    dryRun,
    providers: Object.values(providers).some(hasUnbuiltSettings),
  }).find(([, isAsked]) => isAsked);
  if (asked === undefined) return;
  throw new BatchlingError(
    'NOT_AVAILABLE',
    `The option ${asked[0]} is not available in this version of batchling. Leave it out.`,
    { facts: { option: asked[0] } },
  );
}

function hasUnbuiltSettings(settings: object): boolean {
  return Object.keys(settings).some((name) => name !== 'cancelAtDeadline');
}

const optionsOf = new WeakMap<object, ResolvedOptions>();

/** A nested scope inherits every option it does not set, from its nearest surrounding scope. */
function inheritedOptions(around: Surroundings | undefined): ResolvedOptions | undefined {
  for (let place = around; place !== undefined; place = outsideOf(place)) {
    const options = optionsOf.get(place);
    if (options && 'open' in place && place.open) return options;
  }
  return undefined;
}

/** For options only: calls inside of `realtime` look for no scope further out. */
interface MarkWithParent extends RealtimeMark {
  readonly parent: Surroundings | undefined;
}

/** A mark may have no parent: it is one of another copy of the package, or made for a single call. */
function outsideOf(place: Surroundings): Surroundings | undefined {
  return (place as HookScope | Partial<MarkWithParent>).parent;
}

/** `batchify`, bound to an entry point that touches globals or one that does not. */
export interface Batchify {
  /** Makes a scope; see `BatchingContext`. */
  (options?: BatchifyOptions): BatchingContext;
  /** Runs the function in a scope of its own, waits for all its calls, returns what it returned. */
  <T>(fn: () => T, options?: BatchifyOptions): Promise<Awaited<T>>;
}

export function createBatchify(hooks: boolean): Batchify {
  function batchify<T>(
    first?: BatchifyOptions | (() => T),
    options?: BatchifyOptions,
  ): BatchingContext | Promise<Awaited<T>> {
    if (typeof first !== 'function') return new BatchingContext(first, hooks);
    return runScope(new BatchingContext(options, hooks), first, options?.signal);
  }
  return batchify as Batchify;
}

async function runScope<T>(
  scope: BatchingContext,
  fn: () => T,
  signal: AbortSignal | null | undefined,
): Promise<Awaited<T>> {
  let result: Awaited<T>;
  try {
    signal?.throwIfAborted();
    result = await scope.run(fn);
  } catch (error) {
    scope.abandon();
    throw error;
  }
  await scope.close();
  followGenerator(result, scope);
  return result;
}

/**
 * Runs a function whose LLM calls go out as ordinary ones, although a scope is open.
 *
 * @example
 * const plan = await realtime(() => ask('What should I ask first?'));
 */
export function realtime<T>(fn: () => T): T {
  const { scopes } = sharedState();
  const around = scopes.getStore();
  // Not the mark around this one: a loop that goes on inside of itself would chain them for ever.
  const parent = around && 'realtime' in around ? outsideOf(around) : around;
  const mark: MarkWithParent = { realtime: true, parent };
  return scopes.run(mark, fn);
}
