import { type Fetch, sharedState } from '../hooks/state.ts';
import type { BatchlingEventName, BatchlingEvents } from '../orchestrator/model/events.ts';
import type { Stats } from '../orchestrator/model/stats.ts';
import type { Scope } from './scope.ts';

/**
 * A scope: while it is entered, LLM calls made through any SDK are captured and batched.
 *
 * @example
 * await using scope = await batchify({ window: '5s' }).enter();
 * const answers = await Promise.all(prompts.map(ask));
 */
export class BatchingContext {
  readonly #scope: Scope;

  /** Use `batchify`. */
  constructor(scope: Scope) {
    this.#scope = scope;
  }

  /**
   * A `fetch` that captures, wherever it is called from. Can be passed bare to any SDK.
   *
   * @example
   * const openai = new OpenAI({ fetch: scope.fetch });
   */
  get fetch(): Fetch {
    return this.#scope.fetch;
  }

  /**
   * What the scope has done so far.
   *
   * @example
   * console.log(scope.stats.answered, 'of', scope.stats.captured);
   */
  get stats(): Stats {
    return this.#scope.events.snapshot();
  }

  /**
   * Runs a function inside the scope. The scope stays open afterwards.
   *
   * @example
   * const answer = await scope.run(() => ask('hello'));
   */
  run<T>(fn: () => T): T {
    return this.#scope.run(fn);
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
    return this.#scope.bind(fn);
  }

  /**
   * For `await using`: on from there to the end of the block, where the scope is closed. Both `await`s
   * are needed: the second one keeps the scope out of the code that called this function. In an async
   * generator the scope is on until the first `yield`; what follows runs in the context of its consumer.
   * When the block throws, the scope sends what waits and waits for the answers all the same.
   *
   * @example
   * await using scope = await batchify({ window: '5s' }).enter();
   */
  async enter(): Promise<BatchingContext> {
    this.#scope.assertOpen();
    switchOn();
    return new EnteredContext(this.#scope);
  }

  /**
   * Flushes the scope's queues now, without waiting for company. Does not wait for the answers.
   *
   * @example
   * await scope.flush();
   */
  flush(): Promise<void> {
    return this.#scope.calls.flush();
  }

  /**
   * Ends every waiting call with status 499 and cancels its batches at the provider.
   *
   * @example
   * process.once('SIGUSR2', () => scope.cancel());
   */
  cancel(): Promise<void> {
    return this.#scope.calls.cancel();
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
    return this.#scope.events.on(name, listener);
  }

  /**
   * Flushes, waits for every answer, then closes the scope. A second call gets the same promise.
   *
   * @example
   * await scope.close();
   */
  close(): Promise<void> {
    return this.#scope.close();
  }

  /**
   * The same as `close()`. It enters nothing: `enter()` is for that.
   *
   * @example
   * await using scope = batchify({ hooks: false });
   * const openai = new OpenAI({ fetch: scope.fetch });
   */
  get [Symbol.asyncDispose](): () => Promise<void> {
    return () => this.close();
  }
}

/**
 * What `enter()` resolves to. Reading the symbol, as `await using` does, is what enters: it happens after
 * the `await`, in a context that belongs to the function alone. In its synchronous part, before its first
 * `await`, an async function runs in the context of its caller, and entering would change that one.
 */
class EnteredContext extends BatchingContext {
  readonly #scope: Scope;

  constructor(scope: Scope) {
    super(scope);
    this.#scope = scope;
  }

  override get [Symbol.asyncDispose](): () => Promise<void> {
    const leave = this.#scope.enter();
    // In one synchronous step: a context changed after an `await` would be restored in the wrong place.
    return () => {
      leave();
      return this.close();
    };
  }
}

/**
 * Below Node 24 promises have a context of their own only from the first use of an `AsyncLocalStorage` on
 * (seen on 20.20 and 22.23). If that came after the `await` of `enter()`, the code behind it would share
 * its context with its siblings and its caller, and all of them would be entered. Changes nothing else.
 */
function switchOn(): void {
  const { scopes } = sharedState();
  scopes.enterWith(scopes.getStore() as never);
}
