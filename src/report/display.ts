import type { BatchlingEventName, BatchlingEvents } from '../orchestrator/model/events.ts';
import type { Notice } from '../orchestrator/model/notices.ts';
import type { Stats } from '../orchestrator/model/stats.ts';

export type DisplayMode = 'live' | 'plain' | 'json' | 'none';

/** What a display asks of a scope. */
export interface DisplayedScope {
  readonly stats: Stats;
  readonly store: string;
  /** Milliseconds. */
  readonly completionWindow: number;
}

/** One scope's way to the display that all scopes of the process share. */
export interface ScopeDisplay {
  event<Name extends BatchlingEventName>(name: Name, event: BatchlingEvents[Name]): void;
  /** Something people should know, while the scope goes on. */
  notice(notice: Notice): void;
  /** The scope is closed; `note` says what the user should do next, if anything. */
  close(note?: string): void;
}

export interface Display {
  open(scope: DisplayedScope): ScopeDisplay;
}
