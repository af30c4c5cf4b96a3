import { messageOf } from '../../base/errors.ts';
import { Slice } from '../../concurrency/event-loop.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import type { OwnReason } from '../../orchestrator/answer/own-answer.ts';
import type { Engine } from '../../orchestrator/engine.ts';
import type { CallHandle, CapturedCall } from '../../orchestrator/model/call.ts';
import type { CallEngine } from '../../orchestrator/model/call-engine.ts';
import type { ScopeDryRun } from '../dry-run/scope-dry-run.ts';
import type { ScopeEvents } from '../scope-events.ts';
import type { EngineUse, Tenancy } from './engines.ts';

/** A call that is told what the engine makes of it. */
interface ScopeCall extends CapturedCall {
  handle: CallHandle | undefined;
}

/** Lets the calls of a scope into its engine; the first of them opens it. */
export class EngineEntry {
  readonly #options: ResolvedOptions;
  readonly #events: ScopeEvents;
  readonly #dryRun: ScopeDryRun | undefined;
  readonly #tenancy: Tenancy | undefined;
  /** Calls captured before the engine or their batcher was there: one list, not a promise per call. */
  #early: ScopeCall[] = [];
  #opening: Promise<EngineUse> | undefined;
  #entering: Promise<void> = Promise.resolve();
  #engine: CallEngine | undefined;
  #released = false;

  constructor(
    options: ResolvedOptions,
    events: ScopeEvents,
    dryRun?: ScopeDryRun,
    tenancy?: Tenancy,
  ) {
    this.#options = options;
    this.#events = events;
    this.#dryRun = dryRun;
    this.#tenancy = tenancy;
  }

  /** The engine, once it is open. */
  get current(): CallEngine | undefined {
    return this.#engine;
  }

  enter(call: ScopeCall): void {
    const isFree = this.#early.length === 0;
    if (isFree && this.#engine && call.target.isLoaded && !this.#released) {
      call.handle = this.#engine.capture(call);
      return;
    }
    this.#early.push(call);
    if (isFree) this.#entering = this.#letIn();
  }

  /** Resolves when the early calls are with the engine. */
  entered(): Promise<void> {
    return this.#entering;
  }

  /** Resolves when the engine is open, or cannot be opened. */
  async opened(): Promise<void> {
    if (!this.#released) this.#opening ??= this.#open();
    await this.#opening?.catch(() => undefined);
  }

  /** No call gets in any more. */
  async release(): Promise<void> {
    this.#released = true;
    const use = await this.#opening?.catch(() => undefined);
    await use?.release(this.#events.stats);
  }

  async #letIn(): Promise<void> {
    if (!this.#released) this.#opening ??= this.#open();
    const opened = await this.#opening?.catch((error: unknown) => {
      // Only the calls that wait now are told: the next one tries again.
      this.#opening = undefined;
      return { error };
    });
    // Each call may have to be told that there is no engine.
    const slice = new Slice();
    // Calls join the list while this waits; the last look at it is followed by no wait.
    for (let at = 0; at < this.#early.length; at += 1) {
      const call = this.#early[at] as ScopeCall;
      if (!call.target.isLoaded) await loadBatcher(call);
      if (slice.isOver) await slice.next();
      if (call.aborted || !call.target.isLoaded) continue;
      if (opened === undefined || this.#released) await turnAway(call, 'cancelled', scopeClosed);
      else if ('engine' in opened) call.handle = opened.engine.capture(call);
      else await turnAway(call, 'store', messageOf(opened.error));
    }
    this.#early = [];
  }

  async #open(): Promise<EngineUse> {
    const use = await (this.#dryRun ? this.#dryRun.open(() => this.entered()) : this.#openEngine());
    this.#engine = use.engine;
    return use;
  }

  async #openEngine(): Promise<EngineUse> {
    let use: EngineUse<Engine> | undefined;
    await this.#events.show(this.#options, async () => use?.engine.reader.batchTimes() ?? []);
    const { useEngine } = await import('./engines.ts');
    try {
      use = await useEngine(this.#options, this.#tenancy);
    } catch (error) {
      // Its callers get it as an answer, of which many programs print nothing.
      this.#events.emit('notice', { notice: 'hint', text: messageOf(error) });
      throw error;
    }
    const isLost = !use.engine.isStored && this.#options.store !== ':memory:';
    if (isLost) this.#events.emit('notice', { notice: 'no-ledger' });
    return use;
  }
}

const scopeClosed = 'The scope is closed.';

/** The module is loaded here: it usually comes with the engine, and there is none. */
async function turnAway(call: CapturedCall, reason: OwnReason, message: string): Promise<void> {
  const prepare = await import('../../orchestrator/capture/prepare.ts');
  prepare.turnAway(call, reason, message);
}

/** A batcher that cannot be loaded has no error bodies either: its calls are rejected. */
async function loadBatcher(call: CapturedCall): Promise<void> {
  await call.target.load().catch((error: unknown) => call.fail(error));
}
