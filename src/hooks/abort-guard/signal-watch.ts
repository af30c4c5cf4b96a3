import { setMaxListeners } from 'node:events';
import type { Clock } from '../../base/types.ts';
import type { SignalUser, WatchedSignal } from '../border.ts';
import { sharedState } from '../state.ts';
import { isClientDeadline, startGuarding } from './abort-guard.ts';
import { DeferredAbort, sourcesOf } from './deferred-abort.ts';
import { UnreadAnswers } from './unread-answers.ts';

/** Watches the signal of a captured call until the call ends. */
export function watchSignal(signal: AbortSignal, user: SignalUser): void {
  startGuarding();
  const { watchedSignals } = sharedState();
  let watch = watchedSignals.get(signal);
  if (watch === undefined) {
    watch = new SignalWatch(signal);
    watchedSignals.set(signal, watch);
  }
  watch.add(user);
}

/** A timer's abort that waits to be delivered to its signal. */
interface Deferral {
  readonly abort: DeferredAbort;
  readonly unread: UnreadAnswers;
  /** Called when the abort is delivered. */
  readonly onDelivery: (() => void)[];
  readonly undo: (() => void)[];
}

/**
 * One signal and the captured calls that use it, with one listener for all of them. The user's abort
 * ends the calls. A timer's abort marks them as abandoned and is deferred until the last of them has
 * its answer and its client has read it.
 */
class SignalWatch implements WatchedSignal {
  readonly #signal: AbortSignal;
  /** Nearly every signal has one call; a `Set` for each would be the largest part of the watch. */
  #first: SignalUser | undefined;
  #others: Set<SignalUser> | undefined;
  #hops = 1;
  #deferral: Deferral | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    // Node would warn if ours were the eleventh listener of the user's signal.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', this, { once: true });
  }

  add(user: SignalUser): void {
    this.#hops = Math.max(this.#hops, user.hops);
    if (this.#first === undefined) {
      this.#first = user;
      return;
    }
    this.#others ??= new Set();
    this.#others.add(user);
  }

  whenDelivered(): Promise<void> | undefined {
    const deferral = this.#deferral;
    return deferral && new Promise((resolve) => deferral.onDelivery.push(resolve));
  }

  holdBack(reason: unknown, abort: () => void): void {
    if (this.#deferral === undefined) this.#defer(reason, new DeferredAbort(this.#signal, abort));
  }

  reveal<T>(send: () => T): T {
    return this.#deferral === undefined ? send() : this.#deferral.abort.reveal(send);
  }

  /** The signal's listener. */
  handleEvent(): void {
    // This is the deferred abort, which we are delivering.
    if (this.#deferral && !this.#deferral.abort.isHeldBack) return;
    const { reason } = this.#signal;
    if (!isClientDeadline(reason, this.#hops)) this.#abortAll(reason);
    else if (this.#deferral === undefined) {
      this.#followOthers(this.#defer(reason, new DeferredAbort(this.#signal)));
    }
  }

  answered(user: SignalUser): void {
    this.#deferral?.unread.add(user);
    this.#ended(user);
  }

  leave(user: SignalUser): void {
    this.#deferral?.unread.remove(user);
    this.#ended(user);
  }

  streams(user: SignalUser, isOpen: boolean): void {
    this.#deferral?.unread.streams(isOpen);
    if (this.#deferral && !this.#isInUse()) this.#waitForReaders(this.#deferral, user.clock);
  }

  #ended(user: SignalUser): void {
    if (this.#first === user) this.#first = undefined;
    else this.#others?.delete(user);
    if (this.#isInUse()) return;
    const deferral = this.#deferral;
    if (deferral === undefined) this.#close();
    // One turn later: clients look at their signal right after they have read their answer.
    else if (deferral.unread.isEmpty) setImmediate(() => this.#deliver(deferral));
    else if (!deferral.unread.isWaitedFor) this.#waitForReaders(deferral, user.clock);
  }

  #isInUse(): boolean {
    return this.#first !== undefined || (this.#others !== undefined && this.#others.size > 0);
  }

  #users(): SignalUser[] {
    const others = this.#others ?? [];
    return this.#first === undefined ? [...others] : [this.#first, ...others];
  }

  #defer(reason: unknown, abort: DeferredAbort): Deferral {
    const deferral = { abort, unread: new UnreadAnswers(), onDelivery: [], undo: [] };
    this.#deferral = deferral;
    for (const user of this.#users()) user.giveUp(reason);
    return deferral;
  }

  /** A signal of `AbortSignal.any` aborts only once, so the user's later abort is heard at its sources. */
  #followOthers({ undo }: Deferral): void {
    for (const source of sourcesOf(this.#signal)) {
      if (source.aborted) continue;
      const onAbort = () => {
        if (!isClientDeadline(source.reason)) this.#abortAll(source.reason);
      };
      source.addEventListener('abort', onAbort, { once: true });
      undo.push(() => source.removeEventListener('abort', onAbort));
    }
  }

  #waitForReaders(deferral: Deferral, clock: Clock): void {
    deferral.unread.wait(clock, () => this.#deliver(deferral));
  }

  #abortAll(reason: unknown): void {
    const users = this.#users();
    const deferral = this.#close();
    for (const user of users) user.abort(reason);
    deferral?.abort.deliver();
  }

  #deliver(deferral: Deferral): void {
    // The user's abort may have closed it first.
    if (this.#deferral === deferral) this.#close()?.abort.deliver();
  }

  #close(): Deferral | undefined {
    const deferral = this.#deferral;
    this.#deferral = undefined;
    this.#signal.removeEventListener('abort', this);
    const { watchedSignals } = sharedState();
    if (watchedSignals.get(this.#signal) === this) watchedSignals.delete(this.#signal);
    deferral?.unread.stop();
    for (const undo of deferral?.undo ?? []) undo();
    // Code that awaits these promises goes on after this turn, when the abort is delivered.
    for (const resolve of deferral?.onDelivery ?? []) resolve();
    return deferral;
  }
}
