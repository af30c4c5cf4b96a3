import type { EmittedEvents, EmittedName } from '../../orchestrator/events/events.ts';
import { addStats, addToStats, emptyStats, type Stats } from '../../orchestrator/model/stats.ts';
import { CallCounts } from '../call-counts.ts';
import type { Display, DisplayedScope, ScopeDisplay } from '../display.ts';
import type { ReportFile } from './report-file.ts';
import type { EventMessage, RunMessage } from './run-message.ts';

/**
 * The display of a process whose parent draws for all processes of the run: it sends what its scopes
 * tell. Calls are counted here, and only their numbers are sent.
 */
export class RunReporter implements Display {
  readonly #file: ReportFile;
  readonly #sendsCalls: boolean;
  readonly #open = new Set<DisplayedScope>();
  /** The sum of closed scopes. */
  readonly #past = emptyStats();
  /** Batches of all scopes: one that several of them share counts once. */
  readonly #shared = emptyStats();
  readonly #calls = new CallCounts();
  readonly #seen = new WeakSet<object>();
  #hasNumbers = false;
  #isUsualAsked = false;

  constructor(
    file: ReportFile,
    /** Every call is sent by itself, too. */
    sendsCalls: boolean,
  ) {
    this.#file = file;
    this.#sendsCalls = sendsCalls;
  }

  /** `isQuiet`: only its numbers are sent. */
  open(scope: DisplayedScope, isQuiet = false): ScopeDisplay {
    const { store, firstUse } = scope;
    if (this.#open.size === 0) {
      this.#file.send({ kind: 'open', store, firstUse });
      // The parent needs this message before any numbers.
      this.#file.flush();
    }
    this.#open.add(scope);
    // Events before this moment are part of its stats.
    this.#hasNumbers = true;
    this.#file.changed();
    return {
      event: (name, event) => this.#event(scope, name, event, isQuiet),
      close: (note) => this.#close(scope, note),
    };
  }

  /** What has changed since the last time. */
  numbers(): RunMessage | undefined {
    if (!this.#hasNumbers) return undefined;
    this.#hasNumbers = false;
    const stats = emptyStats();
    for (const some of [this.#past, ...[...this.#open].map((scope) => scope.stats)]) {
      addStats(stats, some);
    }
    Object.assign(stats.batches, this.#shared.batches);
    return { kind: 'counts', stats, ...this.#calls.takeChanges() };
  }

  #event<Name extends EmittedName>(
    scope: DisplayedScope,
    name: Name,
    event: EmittedEvents[Name],
    isQuiet: boolean,
  ): void {
    if (!this.#open.has(scope)) return;
    this.#hasNumbers = true;
    const isOfCall = this.#calls.event(name, event) || isOfOneCall(name);
    if (!isOfCall) {
      if (this.#isSeen(event)) return;
      addToStats(this.#shared, name, event);
      if (name === 'batch:submitted') this.#tellUsual(scope);
    }
    if (isQuiet || (isOfCall && !this.#sendsCalls)) this.#file.changed();
    else this.#send(name, event);
    if (name !== 'call:captured') this.#file.flushNext();
  }

  #send<Name extends EmittedName>(name: Name, event: EmittedEvents[Name]): void {
    const message = { kind: 'event', time: Date.now(), name, event };
    this.#file.send(message as unknown as EventMessage);
  }

  #close(scope: DisplayedScope, note: string | undefined): void {
    if (!this.#open.delete(scope)) return;
    addStats(this.#past, scope.stats);
    this.#hasNumbers = true;
    const stats: Stats = structuredClone(scope.stats);
    this.#file.send({ kind: 'closed', time: Date.now(), stats, ...(note && { note }) });
    if (this.#open.size === 0) this.#file.send({ kind: 'idle' });
  }

  #isSeen(told: object): boolean {
    if (this.#seen.has(told)) return true;
    this.#seen.add(told);
    return false;
  }

  #tellUsual(scope: DisplayedScope): void {
    if (this.#isUsualAsked || scope.typicalTimes === undefined) return;
    this.#isUsualAsked = true;
    scope.typicalTimes().then(
      (times) => times.length > 0 && this.#file.send({ kind: 'typical', times }),
      () => undefined,
    );
  }
}

/** Events of single calls, of which there may be many. */
function isOfOneCall(name: EmittedName): boolean {
  return name.startsWith('call:') || name.startsWith('request:');
}
