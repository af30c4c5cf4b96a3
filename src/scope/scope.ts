import { BatchlingError } from '../base/errors.ts';
import { reportVariable } from '../base/run-variables.ts';
import type { Fetch, ScopeOrRealtime } from '../hooks/border.ts';
import { watchClientTimers } from '../hooks/client-timers/client-timers.ts';
import { fetchOf } from '../hooks/fetch/fetch.ts';
import { areHooksInPlace, installHooks } from '../hooks/install.ts';
import { sharedState } from '../hooks/state.ts';
import { inheritedRun, type ResolvedOptions } from '../options/index.ts';
import { warnOnce } from '../report/warn-once.ts';
import { ScopeCalls } from './calls/scope-calls.ts';
import { watchPatterns } from './calls/unused-patterns.ts';
import type { ScopeForm } from './dry-run/scope-dry-run.ts';
import type { Tenancy } from './engine/engines.ts';
import { resolveScopeOptions } from './scope-options.ts';

/**
 * A scope: its options, its calls, and the hooks that it needs. `BatchingContext` is its public
 * interface; one scope may have several of them.
 */
export class Scope {
  readonly calls: ScopeCalls;
  readonly #options: ResolvedOptions;
  readonly #fetch: Fetch;
  readonly #undo: (() => void)[] = [];
  /** `ended`: by an error or the signal. Its code may still run; its calls are not sent. */
  #state: 'open' | 'closing' | 'closed' | 'ended' = 'open';
  #closing: Promise<void> | undefined;
  /** Code has run inside of the scope, or was given its `fetch`. */
  #isUsed = false;

  constructor(given: unknown, hooks: boolean, form: ScopeForm = 'block', tenancy?: Tenancy) {
    const state = sharedState();
    const parent = state.scopes.getStore();
    this.#options = resolveScopeOptions(parent, given);
    // Throws for a bad name now: when the engine opens, only a caller could be told.
    inheritedRun();
    const hooked = hooks && this.#options.hooks;
    // It ends the scope at once, also where calls were given the same one.
    if (this.signal) state.sharedSignals.add(this.signal);
    this.calls = new ScopeCalls(this.#options, { parent, hooked, form, tenancy });
    this.#fetch = fetchOf(this.calls);
    this.#hook(true);
    const { only, bypass } = this.#options;
    if (only?.complaint && bypass !== 'ignore') this.#undo.push(watchPatterns(only));
    const { signal } = this;
    if (signal?.aborted) this.#abort();
    else signal?.addEventListener('abort', this.#abort, { once: true });
  }

  get signal(): AbortSignal | undefined {
    return this.#options.signal;
  }

  get fetch(): Fetch {
    this.#isUsed = true;
    return this.#fetch;
  }

  run<T>(fn: () => T): T {
    this.assertOpen();
    this.#isUsed = true;
    this.#hook();
    return sharedState().scopes.run(this.calls, fn);
  }

  bind<This, Parameters extends unknown[], Result>(
    fn: (this: This, ...parameters: Parameters) => Result,
  ): (this: This, ...parameters: Parameters) => Result {
    const { scopes } = sharedState();
    const scope = this;
    scope.#isUsed = true;
    return function bound(this: This, ...parameters: Parameters) {
      scope.#hook();
      return scopes.run(scope.calls, () => Reflect.apply(fn, this, parameters));
    };
  }

  /**
   * Makes the scope the current one from here on; returns the function that leaves it. Leaving changes
   * the context only where this scope is still the current one: an async generator is resumed and ended
   * in the context of its consumer.
   */
  enter(): () => void {
    this.assertOpen();
    this.#isUsed = true;
    this.#hook();
    const { scopes } = sharedState();
    const { calls } = this;
    const current = scopes.getStore();
    const before = current === calls ? calls.parent : current;
    scopes.enterWith(calls);
    return () => {
      if (scopes.getStore() === calls) scopes.enterWith(before as ScopeOrRealtime);
    };
  }

  /** Makes this the scope of the whole process. `whenUsed` is called with its first call. */
  serveProcess(whenUsed: () => void): void {
    this.#isUsed = true;
    this.calls.whenUsed = whenUsed;
    sharedState().processScope = this.calls;
  }

  /** Sends the waiting calls, waits for every answer, then closes. A second call gets the same promise. */
  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  /** The scope's function threw: nothing more is sent, and nothing is waited for. */
  abandon(): void {
    if (!this.#end()) return;
    // Its code may go on for as long as the process, and its calls hold nothing.
    if (this.calls.hooked) watchClientTimers();
    this.calls.life.abandon();
  }

  assertOpen(): void {
    if (this.#state === 'open' || this.#state === 'closing') return;
    throw new BatchlingError(
      'SCOPE_CLOSED',
      'The scope is closed. Open a new one with batchify().',
    );
  }

  /** At each entry, because another library may have replaced a global since. */
  #hook(first = false): void {
    const { hooked, open } = this.calls;
    if (hooked && open && (first || !areHooksInPlace())) this.#undo.push(installHooks());
  }

  #unhook(): void {
    this.signal?.removeEventListener('abort', this.#abort);
    for (const undo of this.#undo.splice(0)) undo();
  }

  async #finish(): Promise<void> {
    if (this.#state === 'closed' || this.#state === 'ended') return;
    this.#state = 'closing';
    if (this.calls.hooked && !this.#isUsed) warnOnce(neverEntered);
    await this.calls.life.finish(() => {
      this.#state = 'closed';
      this.calls.open = false;
      this.#unhook();
    });
    if (this.#isUsed) this.#tellIfUnneeded();
  }

  /** The command line says the same of a whole run; a scope inside of another one has a part of its work. */
  #tellIfUnneeded(): void {
    const { hooked, parent, events } = this.calls;
    const { captured, bypassed } = events.stats;
    if (!hooked || captured + bypassed > 0 || parent !== undefined) return;
    if (this.#options.display !== 'none' && !process.env[reportVariable]) warnOnce(nothingCaptured);
  }

  readonly #abort = (): void => {
    if (this.#end()) this.calls.life.abort(this.signal?.reason);
  };

  /** Ends the scope early; false where it has ended already. */
  #end(): boolean {
    if (this.#state === 'closed' || this.#state === 'ended') return false;
    this.#state = 'ended';
    this.#unhook();
    this.#closing ??= Promise.resolve();
    return true;
  }
}

const nothingCaptured =
  'A batchling scope has captured no LLM call, so nothing was batched. If its code makes such calls, they went out at ' +
  'full price unseen: in another process (batchling exec -- …), in a program that is not Node (batchling exec --gateway), or by a ' +
  'client that was made before batchling was loaded or has its own transport (fetch: scope.fetch).';

const neverEntered =
  'A batchling scope was closed without ever having been entered: nothing was batched, and LLM calls ' +
  'made in the meantime went out as ordinary ones, at full price. Write ' +
  '`await using scope = await batchify(options).enter()`, or `await batchify(fn, options)`, or run ' +
  'your code by `scope.run(fn)`.';
