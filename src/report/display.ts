import type { BatchlingEventName, BatchlingEvents } from '../orchestrator/model/events.ts';
import type { Notice } from '../orchestrator/model/notices.ts';
import type { Stats } from '../orchestrator/model/stats.ts';

export type DisplayMode = 'live' | 'plain' | 'json' | 'none';

/** What a display needs to know of a scope. */
export interface DisplayedScope {
  readonly stats: Stats;
  readonly store: string;
  /** Milliseconds. */
  readonly completionWindow: number;
}

/** How one scope reports to the display that all scopes of the process share. */
export interface ScopeDisplay {
  event<Name extends BatchlingEventName>(name: Name, event: BatchlingEvents[Name]): void;
  /** Something that people should know now. */
  notice(notice: Notice): void;
  /** The scope is closed; `note` is a last line for the user. */
  close(note?: string): void;
}

export interface Display {
  open(scope: DisplayedScope): ScopeDisplay;
}
