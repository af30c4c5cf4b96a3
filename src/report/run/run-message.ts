import type { DryRunSummary } from '../../orchestrator/dry-run/dry-run-summary.ts';
import type { EmittedEvents, EmittedName } from '../../orchestrator/events/events.ts';
import type { TypicalTime } from '../../orchestrator/model/batch-times.ts';
import type { Stats } from '../../orchestrator/model/stats.ts';
import type { BatchAnswers, QueueCounts } from '../call-counts.ts';
import type { FirstUse } from '../display.ts';

/** What a process of a run tells the parent that shows the run. Times are milliseconds since 1970. */
export type RunMessage =
  /** The process has opened its first scope, or its first one after `idle`. */
  | {
      readonly kind: 'open';
      readonly store: string;
      readonly firstUse?: FirstUse | undefined;
    }
  | EventMessage
  /** `stats` are of the whole process so far; queues and batches are those whose numbers have changed. */
  | {
      readonly kind: 'counts';
      readonly stats: Stats;
      readonly queues: readonly QueueCounts[];
      readonly batches: readonly BatchAnswers[];
    }
  | { readonly kind: 'typical'; readonly times: readonly TypicalTime[] }
  /** A scope has closed; `note` is a last line for the user. */
  | {
      readonly kind: 'closed';
      readonly time: number;
      readonly stats: Stats;
      readonly note?: string;
    }
  /** No scope is open any more. */
  | { readonly kind: 'idle' }
  /** The process leaves this much under way. */
  | { readonly kind: 'detached'; readonly calls: number; readonly batches: number }
  /** What the process leaves behind, in lines for the user: the last that it has to say. */
  | { readonly kind: 'left'; readonly lines: readonly string[] }
  /** What a scope would have sent so far; it replaces what was told of this scope before. */
  | { readonly kind: 'dry-run'; readonly scope: number; readonly summary: DryRunSummary };

export type EventMessage = {
  readonly [Name in EmittedName]: {
    readonly kind: 'event';
    readonly time: number;
    readonly name: Name;
    readonly event: EmittedEvents[Name];
  };
}[EmittedName];
