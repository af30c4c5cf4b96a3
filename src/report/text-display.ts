import {
  type BatchFacts,
  type BatchlingEventName,
  type BatchlingEvents,
  noRoomYet,
} from '../orchestrator/events/events.ts';
import type { Notice } from '../orchestrator/events/notices.ts';
import { CallCounts, rowName } from './call-counts.ts';
import type { Display, DisplayedScope, ScopeDisplay } from './display.ts';
import { ProgressPace, ProgressState } from './progress-state.ts';
import type { LineOutput } from './terminal/line-output.ts';
import {
  type ClosedScope,
  closedLine,
  collectedLine,
  noticeLine,
  progressLine,
  rejoinedLine,
  sentLine,
  togetherLine,
  waitExplained,
} from './text/event-lines.ts';
import { liveLines } from './text/live-lines.ts';
import { MergedLines } from './text/merged-lines.ts';

interface OpenScope extends DisplayedScope {
  store: string;
  readonly since: number;
  readonly calls: CallCounts;
  /** Tokens of the batches it has a part in: several scopes may share one. */
  readonly batches: Set<string>;
  /** Everything that it has told of. */
  readonly told: { readonly batches: Set<string>; readonly troubles: Set<string> };
}

type Rejoined = Parameters<typeof rejoinedLine>[0];
type Collected = BatchlingEvents['batch:collected'];

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
  /** All scopes get the same object for an event or a notice. */
  readonly #seen = new WeakSet<object>();
  readonly #printedTroubles = new Set<string>();
  readonly #pace = new ProgressPace();
  readonly #usual = new Map<string, number>();
  #isWaitExplained = false;
  #isUsualAsked = false;

  readonly #sent: MergedLines<BatchFacts>;
  readonly #rejoined: MergedLines<Rejoined>;
  readonly #collected: MergedLines<{ event: Collected; age: number | undefined }>;
  readonly #closed: MergedLines<ClosedScope>;

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
      /** Its processes end when all calls are sent. */
      readonly mayDetach?: boolean;
    } = {},
  ) {
    this.#output = output;
    this.#now = now;
    this.#isRun = isRun;
    this.#mayDetach = mayDetach;
    this.#sent = this.#mergedBatches('sent', sentLine, (facts) => facts.count);
    this.#rejoined = this.#mergedBatches('rejoined', rejoinedLine, (facts) => facts.count);
    this.#collected = this.#mergedBatches(
      'collected',
      ({ event, age }) => collectedLine(event, age),
      ({ event }) => event.count,
    );
    // Scopes that close while others are open are summed up with them.
    this.#closed = new MergedLines(
      (scopes) => output.print(closedLine(scopes)),
      () => this.#open.size > 0,
    );
  }

  open(scope: DisplayedScope): ScopeDisplay {
    const open: OpenScope = {
      ...scope,
      since: this.#now(),
      calls: scope.calls ?? new CallCounts(),
      batches: new Set(),
      told: { batches: new Set(), troubles: new Set() },
    };
    this.#open.add(open);
    this.#output.draw?.((columns) =>
      liveLines(this.#state, [...this.#open], this.#usual, this.#now(), columns),
    );
    return {
      event: (name, event) => this.#event(open, name, event),
      notice: (notice) => this.#notice(open, notice),
      close: (note) => this.#close(open, note),
    };
  }

  #event<Name extends BatchlingEventName>(
    open: OpenScope,
    name: Name,
    event: BatchlingEvents[Name],
  ): void {
    // First, because these come for each call.
    if (open.calls.event(name, event)) return;
    if (!this.#open.has(open)) return;
    if (name === 'batch:submitted') open.batches.add((event as BatchFacts).batch);
    if ('batch' in event) open.told.batches.add(event.batch as string);
    if (this.#isSeen(event)) return;
    const known = 'batch' in event ? this.#state.batches.get(event.batch as string) : undefined;
    this.#state.event(name, event, this.#now());
    if (name === 'batch:submitted' && (known === undefined || known.stage !== 'running')) {
      this.#sent.add(event as BatchFacts);
      this.#explainWait(open);
      this.#learnUsual(open);
    } else if (name === 'batch:polled') {
      this.#printProgress();
    } else if (name === 'batch:collected') {
      const age = known && this.#now() - known.sentAt;
      this.#collected.add({ event: event as Collected, age });
    } else if (name === 'batch:resent') {
      const { batch, reason } = event as BatchlingEvents['batch:resent'];
      // A notice says that a batch waits for room.
      if (!reason.startsWith(noRoomYet)) this.#output.print(`${batch}: ${reason}`);
    }
  }

  #notice(open: OpenScope, notice: Notice): void {
    if (!this.#open.has(open)) return;
    this.#state.notice(notice, this.#now());
    if ('batch' in notice) open.told.batches.add(notice.batch);
    if (notice.notice === 'trouble') open.told.troubles.add(notice.id);
    // Nothing that is said of the store may promise that it remembers.
    if (notice.notice === 'no-ledger') open.store = ':memory:';
    if (this.#isSeen(notice)) return;
    if (notice.notice === 'trouble') {
      if (this.#printedTroubles.has(notice.id)) return;
      this.#printedTroubles.add(notice.id);
    }
    if (notice.notice === 'rejoined') {
      this.#rejoined.add(notice);
      return;
    }
    const line = noticeLine(notice);
    if (line !== undefined) this.#output.print(line);
  }

  /** The end of a run: nothing is drawn any more, and these lines are the last. */
  end(lines: readonly string[]): void {
    this.#endLines();
    this.#open.clear();
    this.#output.print(...lines);
  }

  /** Prints these lines after everything that has happened so far. */
  say(lines: readonly string[]): void {
    for (const merged of [this.#sent, this.#rejoined, this.#collected]) merged.flush();
    this.#output.print(...lines);
  }

  #endLines(): void {
    for (const lines of [this.#sent, this.#rejoined, this.#collected]) lines.flush();
    this.#state.clear();
    this.#printedTroubles.clear();
    this.#output.clear?.();
  }

  #close(open: OpenScope, note: string | undefined): void {
    if (this.#isRun) {
      // The process may open another scope, and its numbers belong to the run.
      this.#state.forget(open.told.batches, open.told.troubles);
      if (note) this.#output.print(note);
      return;
    }
    if (!this.#open.delete(open)) return;
    const { stats, batches } = open;
    const isLast = this.#open.size === 0;
    if (isLast) this.#endLines();
    if (stats.captured + stats.bypassed > 0) this.#closed.add({ stats, batches });
    else if (isLast) this.#closed.flush();
    if (note) this.#output.print(note);
  }

  #isSeen(told: object): boolean {
    if (this.#seen.has(told)) return true;
    this.#seen.add(told);
    return false;
  }

  #explainWait(scope: DisplayedScope): void {
    if (this.#isWaitExplained) return;
    this.#isWaitExplained = true;
    this.#output.print(...waitExplained(scope, this.#mayDetach));
  }

  /** Once: what past batches took hardly changes while this process runs. */
  #learnUsual(scope: DisplayedScope): void {
    if (this.#isUsualAsked || scope.typicalTimes === undefined) return;
    this.#isUsualAsked = true;
    // An estimate is a help: where it cannot be had, nothing is said.
    scope.typicalTimes().then(
      (times) => {
        for (const time of times) this.#usual.set(rowName(time), time.duration);
      },
      () => undefined,
    );
  }

  /** Without a live block, a line now and then. */
  #printProgress(): void {
    if (this.#output.draw) return;
    const batches = [...this.#state.batches.values()].filter(({ stage }) => stage === 'running');
    const now = this.#now();
    if (this.#pace.isDue(batches, now)) this.#output.print(progressLine(batches, this.#usual, now));
  }

  #mergedBatches<Fact>(
    verb: string,
    one: (fact: Fact) => string,
    count: (fact: Fact) => number,
  ): MergedLines<Fact> {
    return new MergedLines((facts) => {
      const [fact, ...more] = facts;
      if (fact === undefined) return;
      const requests = facts.reduce((sum, each) => sum + count(each), 0);
      this.#output.print(
        more.length === 0 ? one(fact) : togetherLine(verb, facts.length, requests),
      );
    });
  }
}
