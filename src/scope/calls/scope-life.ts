import { shownStore } from '../../base/store-address.ts';
import { inTurns, nextTurn } from '../../concurrency/event-loop.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import type { LeftCalls } from '../../report/text/end-note.ts';
import type { ScopeDryRun } from '../dry-run/scope-dry-run.ts';
import type { EngineEntry } from '../engine/engine-entry.ts';
import type { scopeTerms } from '../engine/scope-terms.ts';
import type { ScopeEvents } from '../scope-events.ts';
import { type CallsUnderWay, isSent, whileUp } from './calls-under-way.ts';
import { dropped, type EarlyEnd } from './early-end.ts';

interface ScopeParts {
  readonly options: ResolvedOptions;
  readonly events: ScopeEvents;
  readonly dryRun: ScopeDryRun | undefined;
  readonly scope: ReturnType<typeof scopeTerms>;
  readonly engine: EngineEntry;
  readonly calls: CallsUnderWay;
  readonly earlyEnd: EarlyEnd;
}

/** How the calls of a scope are sent together, and how they all come to an end. */
export class ScopeLife {
  readonly #parts: ScopeParts;

  constructor(parts: ScopeParts) {
    this.#parts = parts;
  }

  async flush(): Promise<void> {
    const { engine, scope } = this.#parts;
    // An SDK needs a few turns of its own before its request reaches us.
    await nextTurn();
    await engine.entered();
    await engine.current?.flush(scope);
  }

  async cancel(): Promise<void> {
    const { engine, calls, earlyEnd } = this.#parts;
    const message = 'The scope was cancelled.';
    earlyEnd.sendAway({ message });
    await engine.entered();
    const handles = calls.all.flatMap(({ handle }) => handle ?? []);
    await engine.current?.cancel(handles, message);
  }

  /** Flushes and waits until nobody waits any more; calls may still beget calls. */
  finish(nothingWaits: () => void): Promise<void> {
    const { dryRun, engine, events } = this.#parts;
    return whileUp(async () => {
      await this.#answerAll();
      // In the same turn: a call made while the engine goes down must not be captured.
      nothingWaits();
      await dryRun?.tell();
      await engine.release();
      events.close();
    });
  }

  async #answerAll(): Promise<void> {
    const { calls, engine, scope } = this.#parts;
    for (;;) {
      await this.flush();
      // A batch answers its callers line by line; that all of it is collected is known a little later.
      if (calls.isIdle) await engine.current?.collected(scope);
      if (calls.isIdle) return;
      // Only now: what the intake brings in slices would otherwise be sent in slices.
      scope.flushing = true;
      await calls.idle();
    }
  }

  /** The scope's function threw. Batches under way stay in the ledger, and hold the process no longer. */
  abandon(): void {
    const { calls, dryRun, scope } = this.#parts;
    if (dryRun) {
      this.#stopDryRun(dryRun);
      return;
    }
    const left = this.#endEarly(dropped);
    scope.ended = true;
    // First: it looks at the calls that wait, and dropping ends them.
    calls.letProcessEnd();
    this.#leaveBehind('an error', left, this.#dropUnsent());
  }

  /** A dry run has seen what it can see: its calls stay as they are, and hold nothing. */
  #stopDryRun(dryRun: ScopeDryRun): void {
    const { calls, earlyEnd, engine } = this.#parts;
    earlyEnd.end({ reason: dropped });
    calls.letProcessEnd();
    const end = async () => {
      await engine.entered();
      await this.#dropUnsent();
      await dryRun.tell();
      await engine.release();
    };
    this.#orLogged(whileUp(end));
  }

  /** The process leaves: what waits stays in the ledger, and its callers hear nothing more of us. */
  leave(): void {
    this.#parts.earlyEnd.end({ reason: dropped });
    this.#parts.scope.ended = true;
  }

  /** In turns: a hundred thousand may wait. */
  async #dropUnsent(): Promise<void> {
    await inTurns(this.#parts.calls.all, (call) => {
      if (isSent(call)) call.handle?.leaveBehind();
      else call.drop();
    });
  }

  abort(reason: unknown): void {
    const left = this.#endEarly(reason);
    for (const call of this.#parts.calls.all) call.abort(reason);
    this.#leaveBehind('its signal', left, Promise.resolve());
  }

  #endEarly(reason: unknown): LeftCalls {
    const { calls, earlyEnd } = this.#parts;
    const left = calls.tally(earlyEnd.listening);
    earlyEnd.end({ reason });
    return left;
  }

  #leaveBehind(endedBy: string, left: LeftCalls, work: Promise<void>): void {
    const { calls, engine, events, options } = this.#parts;
    const store = engine.current?.isStored === false ? ':memory:' : options.store;
    const say = async () => {
      const { endNote } = await import('../../report/text/end-note.ts');
      const note = endNote(endedBy, left, shownStore(store));
      await work;
      // It comes with the engine, and the scope may have ended before that was there.
      if (note !== undefined) await events.show(options);
      events.close(note);
    };
    const release = whileUp(say)
      .then(() => calls.idle())
      .then(() => whileUp(() => engine.release()));
    this.#orLogged(release);
  }

  #orLogged(closing: Promise<void>): void {
    const { logger } = this.#parts.options;
    closing.catch((error: unknown) => logger.error('batchling could not close', { error }));
  }
}
