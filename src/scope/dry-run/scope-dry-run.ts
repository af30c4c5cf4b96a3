import { type SharedDryRun, sharedState } from '../../hooks/state.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import type { DryRun } from '../../orchestrator/dry-run/dry-run.ts';
import type { DryRunSummary } from '../../orchestrator/dry-run/dry-run-summary.ts';
import type { EngineUse } from '../engine/engines.ts';
import { exit } from '../leaving/exit.ts';
import type { ScopeEvents } from '../scope-events.ts';
import { DryRunExit } from './dry-run-exit.ts';

/**
 * What a scope is to its program:
 * - `function`: `batchify(fn)` runs it, and is rejected when a dry run stops.
 * - `process`: the whole process is in it. A dry run that stops ends the process.
 * - `block`: anything else. Nobody could be told that a dry run stops, so its calls get errors.
 */
export type ScopeForm = 'function' | 'process' | 'block';

/**
 * - `idle`: no call has come.
 * - `opening`: the first calls wait until they can be looked at.
 * - `open`: calls are captured.
 * - `stopped`: its first round is over, and calls wait that nobody will answer.
 */
type DryRunState = 'idle' | 'opening' | 'open' | 'stopped';

let scopes = 0;

/** The dry run of one scope, and what its program is told of it. */
export class ScopeDryRun implements SharedDryRun {
  /** Rejects with `DryRunExit` when the first round is over. */
  readonly stopped: Promise<never>;
  readonly #options: ResolvedOptions;
  readonly #events: ScopeEvents;
  readonly #form: ScopeForm;
  /** Tells the dry runs of a process apart. */
  readonly #number: number;
  #state: DryRunState = 'idle';
  #engine: DryRun | undefined;
  #told: Promise<DryRunSummary | undefined> | undefined;
  #reject!: (reason: unknown) => void;

  constructor(options: ResolvedOptions, events: ScopeEvents, form: ScopeForm) {
    this.#options = options;
    this.#events = events;
    scopes += 1;
    this.#number = scopes;
    // Inside of a process that is a dry run itself, an error nobody expects would only end it badly.
    const isInProcess = form === 'function' && sharedState().processScope !== undefined;
    this.#form = isInProcess ? 'process' : form;
    this.stopped = new Promise((_, reject) => {
      this.#reject = reject;
    });
    // No code waits for a block.
    this.stopped.catch(() => undefined);
  }

  /** In the place of the engine. `entered`: resolves when all calls made so far have come to it. */
  async open(entered: () => Promise<void>): Promise<EngineUse> {
    const stop = this.#form === 'block' ? undefined : () => void this.#stop();
    this.#state = 'opening';
    sharedState().dryRuns.add(this);
    try {
      const { useDryRun } = await import('../engine/engines.ts');
      const roundEnded = () => this.#report();
      const use = await useDryRun(this.#options, { entered, stop, roundEnded });
      this.#engine = use.engine;
      return use;
    } finally {
      this.#state = 'open';
    }
  }

  /** Resolves when a call that is not captured is to be told that it was not sent; see `DryRun.hold`. */
  async roundIsOver(): Promise<void> {
    await this.#engine?.hold();
  }

  get isUnderWay(): boolean {
    if (this.#form !== 'process') return false;
    return (
      this.#state === 'opening' || (this.#state === 'open' && this.#engine?.isWaiting === true)
    );
  }

  /** Prints the summary, once. `undefined`: no call was captured. */
  tell(): Promise<DryRunSummary | undefined> {
    this.#told ??= this.#tell();
    return this.#told;
  }

  /** What `batchify(fn)` is rejected with although the function has ended; see `docs/money.md`. */
  async exitAfterPlaceholders(): Promise<DryRunExit | undefined> {
    const summary = await this.tell();
    const isReal = summary === undefined || summary.fromLedger === summary.calls;
    return isReal || this.#form === 'process' ? undefined : new DryRunExit(summary);
  }

  async #stop(): Promise<void> {
    this.#state = 'stopped';
    if (this.#form === 'process') {
      await exitWhenAllHaveStopped();
      return;
    }
    const summary = await this.tell();
    if (summary) this.#reject(new DryRunExit(summary));
  }

  async #tell(): Promise<DryRunSummary | undefined> {
    try {
      const summary = await this.#report();
      if (summary === undefined) return undefined;
      const { showDryRun } = await import('../../report/text/dry-run-lines.ts');
      showDryRun(summary, this.#options.display);
      return summary;
    } finally {
      // Not before it is told: the process may be ended as soon as all dry runs in the list are told.
      sharedState().dryRuns.delete(this);
    }
  }

  /** After each round: a process may be killed when it has its answers. `undefined`: there is nothing to tell. */
  async #report(): Promise<DryRunSummary | undefined> {
    const { bypassed } = this.#events.stats;
    const summary = await this.#engine?.summary(bypassed);
    if (summary === undefined || summary.calls + bypassed === 0) return undefined;
    const { reportDryRun } = await import('../../report/text/dry-run-lines.ts');
    reportDryRun(this.#number, summary);
    return summary;
  }
}

/** Ends the process once the dry runs of all its scopes have stopped: the others still count their calls. */
async function exitWhenAllHaveStopped(): Promise<void> {
  // All copies of the package in this process add theirs.
  const all = [...sharedState().dryRuns];
  if (all.some(({ isUnderWay }) => isUnderWay)) return;
  await Promise.all(all.map((one) => one.tell()));
  exit(0);
}
