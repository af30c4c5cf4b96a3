import type { Emit } from '../orchestrator/events/events.ts';
import type { TypicalTime } from '../orchestrator/model/batch-times.ts';
import type { Stats } from '../orchestrator/model/stats.ts';
import type { CallCounts } from './call-counts.ts';

export type DisplayMode = 'live' | 'plain' | 'json' | 'none';

/** What people are told about a ledger that did not exist before. */
export interface FirstUse {
  /** Milliseconds. */
  readonly retention: number;
  readonly keep: 'answers' | 'all' | 'none';
}

/** What a display needs to know of a scope. */
export interface DisplayedScope {
  readonly stats: Stats;
  readonly store: string;
  /** Set where the file of the ledger does not exist yet. */
  readonly firstUse?: FirstUse | undefined;
  /** Set where somebody else counts its calls. */
  readonly calls?: CallCounts;
  /** How long batches of earlier runs took. Asked when the first batch is sent. */
  typicalTimes?(): Promise<readonly TypicalTime[]>;
}

/** How one scope reports to the display that all scopes of the process share. */
export interface ScopeDisplay {
  readonly event: Emit;
  /** The scope is closed; `note` is a last line for the user. */
  close(note?: string): void;
}

export interface Display {
  open(scope: DisplayedScope): ScopeDisplay;
}
