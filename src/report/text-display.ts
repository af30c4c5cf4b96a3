import {
  type BatchFacts,
  type BatchlingEvents,
  type EmittedEvents,
  type EmittedName,
  type Notice,
  noRoomYet,
} from '../orchestrator/events/events.ts';
import { CallCounts, rowName } from './call-counts.ts';
import type { Display, DisplayedScope, ScopeDisplay } from './display.ts';
import { ProgressPace, ProgressState } from './progress-state.ts';
import type { LineOutput } from './terminal/line-output.ts';
import {
  collectedLine,
  noticeLine,
  progressLine,
  sentLine,
  slowLine,
  waitExplained,
} from './text/event-lines.ts';
import { liveLines } from './text/live-lines.ts';
import { ShortIds } from './text/short-ids.ts';
import { summaryLine } from './text/summary.ts';

interface OpenScope extends DisplayedScope {
  store: string;
  readonly since: number;
  readonly calls: CallCounts;
  /** Everything that it has told of. */
  readonly told: { readonly batches: Set<string>; readonly troubles: Set<string> };
}

/**
 * The text that people read, for all scopes of a process: lines that stay, and in a terminal a block
 * that shows the current state. A batch that several scopes share is shown once.
 */
export class TextDisplay implements Display {
  readonly #output: LineOutput;
  readonly #now: () => number;
  readonly #isRun: boolean;
  readonly #mayDetach: boolean;
  readonly #state = new ProgressState();
  readonly #open = new Set<OpenScope>();
  /** All scopes get the same object for an event. */
  readonly #seen = new WeakSet<object>();
  readonly #printedTroubles = new Set<string>();
  readonly #pace = new ProgressPace();
  readonly #ids = new ShortIds();
  readonly #usual = new Map<string, number>();
  #isWaitExplained = false;
  #isUsualAsked = false;

  constructor(
    output: LineOutput,
    {
      now = () => performance.now(),
      isRun = false,
      mayDetach = false,
    }: {
      readonly now?: () => number;
      /** A scope stands for a process of a run, and is summed up with the others by `end`. */
      readonly isRun?: boolean;
      /** Processes of the run end when all calls are sent. */
      readonly mayDetach?: boolean;
    } = {},
  ) {
    this.#output = output;
    this.#now = now;
    this.#isRun = isRun;
    this.#mayDetach = mayDetach;
  }

  open(scope: DisplayedScope): ScopeDisplay {
    const open: OpenScope = {
      ...scope,
      since: this.#now(),
      calls: scope.calls ?? new CallCounts(),
      told: { batches: new Set(), troubles: new Set() },
    };
    this.#open.add(open);
    this.#output.draw?.((columns) =>
      liveLines(this.#state, [...this.#open], this.#usual, this.#now(), columns),
    );
    return {
      event: (name, event) => this.#event(open, name, event),
      close: (note) => this.#close(open, note),
    };
  }

  #event<Name extends EmittedName>(open: OpenScope, name: Name, event: EmittedEvents[Name]): void {
    // Events of single calls are only counted: there may be very many.
    if (open.calls.event(name, event)) return;
    if (!this.#open.has(open)) return;
    const token = 'batch' in event ? (event.batch as string) : undefined;
    if (token !== undefined) open.told.batches.add(token);
    const known = token === undefined ? undefined : this.#state.batches.get(token);
    if (name === 'notice') this.#noted(open, event as Notice);
    if (this.#isSeen(event)) return;
    if (name !== 'notice') this.#state.event(name, event, this.#now());
    if (name === 'batch:submitted' && (known === undefined || known.stage !== 'running')) {
      this.#print(sentLine(event as BatchFacts));
      this.#explainWait(open);
      this.#learnUsual(open);
    } else if (name === 'batch:polled') {
      this.#printProgress();
    } else if (name === 'batch:slow') {
      this.#print(slowLine(event as BatchlingEvents['batch:slow']));
    } else if (name === 'batch:collected') {
      const age = known && this.#now() - known.sentAt;
      this.#print(collectedLine(event as BatchlingEvents['batch:collected'], age));
    } else if (name === 'batch:resent') {
      const { reason } = event as BatchlingEvents['batch:resent'];
      // A notice says that a batch waits for room.
      if (!reason.startsWith(noRoomYet)) this.#print(`${token}: ${reason}`);
    } else if (name === 'notice') {
      this.#printNotice(event as Notice);
    }
  }

  /** What a notice changes, also where it comes again: a wait that begins anew is told by the same object. */
  #noted(open: OpenScope, notice: Notice): void {
    this.#state.event('notice', notice, this.#now());
    if (notice.notice === 'trouble') open.told.troubles.add(notice.id);
    // Nothing that is said of the store may promise that it remembers.
    if (notice.notice === 'no-ledger') open.store = ':memory:';
  }

  /** Several processes of a run may report one trouble, by the same id. */
  #printNotice(notice: Notice): void {
    if (notice.notice === 'trouble') {
      if (this.#printedTroubles.has(notice.id)) return;
      this.#printedTroubles.add(notice.id);
    }
    const line = noticeLine(notice);
    if (line !== undefined) this.#print(line);
  }

  /** The end of a run: nothing is drawn any more, and these lines are the last. */
  end(lines: readonly string[]): void {
    this.#clear();
    this.#open.clear();
    this.#print(...lines);
  }

  say(lines: readonly string[]): void {
    this.#print(...lines);
  }

  #print(...lines: string[]): void {
    this.#output.print(...lines.map((line) => this.#ids.in(line)));
  }

  #clear(): void {
    this.#state.clear();
    this.#printedTroubles.clear();
    this.#output.clear?.();
  }

  #close(open: OpenScope, note: string | undefined): void {
    if (this.#isRun) {
      // The process may open another scope, and its numbers belong to the run.
      this.#state.forget(open.told.batches, open.told.troubles);
      if (note) this.#print(note);
      return;
    }
    if (!this.#open.delete(open)) return;
    if (this.#open.size === 0) this.#clear();
    const { stats } = open;
    if (stats.captured + stats.bypassed > 0) this.#print(summaryLine(stats));
    if (note) this.#print(note);
  }

  #isSeen(told: object): boolean {
    if (this.#seen.has(told)) return true;
    this.#seen.add(told);
    return false;
  }

  #explainWait(scope: DisplayedScope): void {
    if (this.#isWaitExplained) return;
    this.#isWaitExplained = true;
    this.#print(...waitExplained(scope, this.#mayDetach));
  }

  /** Asks once: what past batches took hardly changes while this process runs. */
  #learnUsual(scope: DisplayedScope): void {
    if (this.#isUsualAsked || scope.typicalTimes === undefined) return;
    this.#isUsualAsked = true;
    // An estimate is a help: where it cannot be had, nothing is said.
    scope
      .typicalTimes()
      .then((times) => {
        for (const time of times) this.#usual.set(rowName(time), time.duration);
      })
      .catch(() => undefined);
  }

  /** Prints a line now and then where there is no live block. */
  #printProgress(): void {
    if (this.#output.draw) return;
    const batches = [...this.#state.batches.values()].filter(({ stage }) => stage === 'running');
    const now = this.#now();
    if (this.#pace.isDue(batches, now)) this.#print(progressLine(batches, this.#usual, now));
  }
}
