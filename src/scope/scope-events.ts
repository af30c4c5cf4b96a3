import { reportVariable } from '../base/run-variables.ts';
import type { BatchTime } from '../ledger/ledger.ts';
import type { ResolvedOptions } from '../options/index.ts';
import type { BatchlingEventName, BatchlingEvents, Emit } from '../orchestrator/events/events.ts';
import { addToStats, emptyStats, type Stats } from '../orchestrator/model/stats.ts';
import type { ScopeDisplay } from '../report/display.ts';

type Listener<Name extends BatchlingEventName> = (event: BatchlingEvents[Name]) => void;

/** The events of a scope, their sum (`stats`), and their display. */
export class ScopeEvents {
  readonly stats = emptyStats();
  readonly #listeners = new Map<BatchlingEventName, Set<Listener<never>>>();
  #display: ScopeDisplay | undefined;
  /** How long batches of earlier runs took, which the engine knows. */
  #times: () => Promise<readonly BatchTime[]> = async () => [];
  #isClosed = false;

  /**
   * Opens the display, once. It is loaded with the engine: before that there is nothing to show.
   */
  async show(options: ResolvedOptions, times = this.#times): Promise<void> {
    this.#times = times;
    const { display } = options;
    // A parent that draws nothing wants to know the numbers all the same.
    const isShown = display !== 'none' || (process.env[reportVariable] ?? '') !== '';
    if (this.#display || this.#isClosed || !isShown) return;
    const [{ showScope }, { displayedScope }] = await Promise.all([
      import('../report/process-display.ts'),
      import('../report/displayed-scope.ts'),
    ]);
    if (this.#display || this.#isClosed) return;
    this.#display = showScope(
      display,
      displayedScope(this.stats, options, () => this.#times()),
    );
  }

  readonly emit: Emit = (name, event) => {
    addToStats(this.stats, name, event);
    this.#display?.event(name, event);
    if (name === 'notice') return;
    const listeners = this.#listeners.get(name as BatchlingEventName);
    if (listeners === undefined) return;
    for (const listener of listeners) callSafely(listener as (event: object) => void, event);
  };

  on<Name extends BatchlingEventName>(name: Name, listener: Listener<Name>): () => void {
    let listeners = this.#listeners.get(name);
    if (listeners === undefined) {
      listeners = new Set();
      this.#listeners.set(name, listeners);
    }
    listeners.add(listener as Listener<never>);
    return () => {
      listeners.delete(listener as Listener<never>);
    };
  }

  /** The scope is closed; `note` is a last line for the user. */
  close(note?: string): void {
    this.#isClosed = true;
    this.#display?.close(note);
    this.#display = undefined;
  }

  snapshot(): Stats {
    return structuredClone(this.stats);
  }
}

/** A listener that throws must not stop an answer: its error becomes an uncaught exception. */
function callSafely<Event>(listener: (event: Event) => void, event: Event): void {
  try {
    listener(event);
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}
