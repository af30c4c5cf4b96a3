import type { Fetch } from '../hooks/border.ts';
import { sharedState } from '../hooks/state.ts';
import type { BatchlingEventName, BatchlingEvents } from '../orchestrator/events/events.ts';
import type { Stats } from '../orchestrator/model/stats.ts';
import type { Scope } from './scope.ts';

/**
 * A scope: LLM calls that are made inside of it, through any SDK, are captured and batched.
 *
 * @example
 * await using scope = await batchify({ window: '5s' }).enter();
 * const answers = await Promise.all(prompts.map(ask));
 */
export class BatchingContext {
  readonly #scope: Scope;

  /** Made by `batchify`. */
  constructor(scope: Scope) {
    this.#scope = scope;
  }

  /**
   * A `fetch` that captures wherever it is called from, but inside of `realtime`. It can be passed to
   * any SDK as it is.
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
    return this.#scope.calls.events.snapshot();
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
   * For `await using`: the scope is entered from there to the end of the block, and closed there. Both
   * `await`s are needed: the second one keeps the scope out of the code that called this function. In
   * an async generator the scope ends at the first `yield`; later code runs in the consumer's context.
   * When the block throws, the scope still sends the waiting calls and waits for their answers.
   *
   * @example
   * await using scope = await batchify({ window: '5s' }).enter();
   */
  async enter(): Promise<BatchingContext> {
    this.#scope.assertOpen();
    switchStorageOn();
    return new EnteredContext(this.#scope);
  }

  /**
   * Sends the calls that wait in the scope's queues now. Does not wait for the answers.
   *
   * @example
   * await scope.flush();
   */
  flush(): Promise<void> {
    return this.#scope.calls.life.flush();
  }

  /**
   * Ends every waiting call with status 499 and cancels its batches at the provider.
   *
   * @example
   * process.once('SIGUSR2', () => scope.cancel());
   */
  cancel(): Promise<void> {
    return this.#scope.calls.life.cancel();
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
    return this.#scope.calls.events.on(name, listener);
  }

  /**
   * Sends the waiting calls, waits for every answer, then closes the scope. A second call returns the
   * same promise.
   *
   * @example
   * await scope.close();
   */
  close(): Promise<void> {
    return this.#scope.close();
  }

  /**
   * The same as `close()`, for `await using`. It does not enter the scope; `enter()` does.
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
 * What `enter()` resolves to. Reading the symbol, as `await using` does, enters the scope: that happens
 * after the `await`, in an async context that belongs to the function alone. Before its first `await`,
 * an async function runs in the context of its caller, and entering would change the caller's context.
 */
class EnteredContext extends BatchingContext {
  readonly #scope: Scope;

  constructor(scope: Scope) {
    super(scope);
    this.#scope = scope;
  }

  override get [Symbol.asyncDispose](): () => Promise<void> {
    const leave = this.#scope.enter();
    // Leaves before anything is awaited: after an `await` the change would apply to another context.
    return () => {
      leave();
      return this.close();
    };
  }
}

/**
 * Below Node 24 promises have a context of their own only after the first use of an `AsyncLocalStorage`
 * (seen on 20.20 and 22.23). If that came after the `await` of `enter()`, the code behind it would share
 * its context with its siblings and its caller, and all of them would be entered.
 */
function switchStorageOn(): void {
  const { scopes } = sharedState();
  scopes.enterWith(scopes.getStore() as never);
}
