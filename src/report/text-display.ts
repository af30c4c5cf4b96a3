import {
  type BatchFacts,
  type BatchlingEventName,
  type BatchlingEvents,
  noRoomYet,
} from '../orchestrator/model/events.ts';
import type { Notice } from '../orchestrator/model/notices.ts';
import { ClosedScopes } from './closed-scopes.ts';
import type { Display, DisplayedScope, ScopeDisplay } from './display.ts';
import { liveLines } from './live-lines.ts';
import { MergedLines } from './merged-lines.ts';
import type { Paper } from './paper.ts';
import { ProgressPace } from './progress-pace.ts';
import { ProgressState } from './progress-state.ts';
import {
  collectedLine,
  noticeLine,
  progressLine,
  rejoinedLine,
  sentLine,
  togetherLine,
  waitExplained,
} from './wording.ts';

interface OpenScope {
  readonly scope: DisplayedScope;
  readonly since: number;
  /** Tokens of the batches it has a part in: several scopes may share one. */
  readonly batches: Set<string>;
}

type Rejoined = Parameters<typeof rejoinedLine>[0];
type Collected = BatchlingEvents['batch:collected'];

/**
 * What people read, for all scopes of a process: lines that stay, and on paper that can be drawn on a few
 * lines that show how things stand. A batch that several scopes share is shown once.
 */
export class TextDisplay implements Display {
  readonly #paper: Paper;
  readonly #now: () => number;
  readonly #state = new ProgressState();
  readonly #open = new Set<OpenScope>();
  /** Events and notices are one object for all scopes that are told. */
  readonly #seen = new WeakSet<object>();
  readonly #toldTroubles = new Set<string>();
  readonly #pace: ProgressPace;
  #isExplained = false;

  readonly #sent: MergedLines<BatchFacts>;
  readonly #rejoined: MergedLines<Rejoined>;
  readonly #collected: MergedLines<{ event: Collected; age: number | undefined }>;
  readonly #closedScopes = new ClosedScopes();
  readonly #closed: MergedLines<undefined>;

  constructor(paper: Paper, now: () => number = () => performance.now()) {
    this.#paper = paper;
    this.#now = now;
    this.#pace = new ProgressPace();
    this.#sent = this.#merged('sent', sentLine, (facts) => facts.count);
    this.#rejoined = this.#merged('rejoined', rejoinedLine, (facts) => facts.count);
    this.#collected = this.#merged(
      'collected',
      ({ event, age }) => collectedLine(event, age),
      ({ event }) => event.count,
    );
    // A scope among others that are open is a part of something larger.
    this.#closed = new MergedLines(
      () => this.#paper.print(this.#closedScopes.take()),
      () => this.#open.size > 0,
    );
  }

  open(scope: DisplayedScope): ScopeDisplay {
    const open: OpenScope = { scope, since: this.#now(), batches: new Set() };
    this.#open.add(open);
    this.#paper.draw?.(() => this.#lines());
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
    // Calls are counted by their scopes. This is asked for each of them.
    if (name === 'call:captured' || name === 'call:answered') return;
    if (!this.#open.has(open)) return;
    if (name === 'batch:submitted') open.batches.add((event as BatchFacts).batch);
    if (this.#isSeen(event)) return;
    const known = 'batch' in event ? this.#state.batches.get(event.batch as string) : undefined;
    this.#state.event(name, event, this.#now());
    if (name === 'batch:submitted' && known === undefined) {
      this.#sent.add(event as BatchFacts);
      this.#explain(open.scope);
    } else if (name === 'batch:polled') {
      this.#progress();
    } else if (name === 'batch:collected') {
      const age = known && this.#now() - known.sentAt;
      this.#collected.add({ event: event as Collected, age });
    } else if (name === 'batch:resent') {
      const { batch, reason } = event as BatchlingEvents['batch:resent'];
      // Who waits for room is told so by a notice.
      if (!reason.startsWith(noRoomYet)) this.#paper.print(`${batch}: ${reason}`);
    }
  }

  #notice(open: OpenScope, notice: Notice): void {
    if (!this.#open.has(open)) return;
    this.#state.notice(notice, this.#now());
    if (this.#isSeen(notice)) return;
    if (notice.notice === 'trouble') {
      if (this.#toldTroubles.has(notice.id)) return;
      this.#toldTroubles.add(notice.id);
    }
    if (notice.notice === 'rejoined') {
      this.#rejoined.add(notice);
      return;
    }
    const line = noticeLine(notice);
    if (line !== undefined) this.#paper.print(line);
  }

  #close(open: OpenScope, note: string | undefined): void {
    if (!this.#open.delete(open)) return;
    const { scope, batches } = open;
    const isLast = this.#open.size === 0;
    if (isLast) {
      for (const lines of [this.#sent, this.#rejoined, this.#collected]) lines.flush();
      this.#state.clear();
      this.#toldTroubles.clear();
      this.#paper.clear?.();
    }
    if (scope.stats.captured + scope.stats.bypassed > 0) {
      this.#closedScopes.add(scope.stats, batches);
      this.#closed.add(undefined);
    } else if (isLast) {
      this.#closed.flush();
    }
    if (note) this.#paper.print(note);
  }

  #isSeen(told: object): boolean {
    if (this.#seen.has(told)) return true;
    this.#seen.add(told);
    return false;
  }

  #explain({ completionWindow, store }: DisplayedScope): void {
    if (this.#isExplained) return;
    this.#isExplained = true;
    this.#paper.print(...waitExplained(completionWindow, store));
  }

  /** Where nothing can be drawn, a line now and then. */
  #progress(): void {
    if (this.#paper.draw) return;
    const batches = [...this.#state.batches.values()].filter(({ ended }) => !ended);
    const now = this.#now();
    if (this.#pace.isDue(batches, now)) this.#paper.print(progressLine(batches, now));
  }

  #lines(): string[] {
    const scopes = [...this.#open].map(({ scope, since }) => ({ stats: scope.stats, since }));
    return liveLines(this.#state, scopes, this.#now());
  }

  #merged<Fact>(
    what: string,
    one: (fact: Fact) => string,
    count: (fact: Fact) => number,
  ): MergedLines<Fact> {
    return new MergedLines((facts) => {
      const [fact, ...more] = facts;
      if (fact === undefined) return;
      const requests = facts.reduce((sum, each) => sum + count(each), 0);
      this.#paper.print(more.length === 0 ? one(fact) : togetherLine(what, facts.length, requests));
    });
  }
}
