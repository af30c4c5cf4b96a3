import { basename } from 'node:path';
import type { DryRunSummary } from '../../orchestrator/dry-run/dry-run-summary.ts';
import { addStats, emptyStats, type Stats } from '../../orchestrator/model/stats.ts';
import { summaryLine } from '../../report/text/summary.ts';
import { exitCodes } from '../exit-codes.ts';

/** What the command of `--on-done` gets on its stdin. It never holds a prompt, an answer or a credential. */
export interface DoneSummary {
  readonly command: 'run' | 'exec' | 'map' | 'collect' | 'serve';
  /** What was run, without folders and arguments. */
  readonly name?: string;
  readonly outcome: 'done' | 'failed';
  readonly exitCode: number;
  /** One line for people. */
  readonly text: string;
  readonly milliseconds: number;
  /** Set for `run`, `exec` and `serve`. */
  readonly stats?: Stats;
  readonly dryRun?: DryRunSummary;
  /** Set for `map`. */
  readonly lines?: { readonly done: number; readonly failed: number };
  readonly dollars?: { readonly paid: number; readonly saved: number };
  /** Set for `collect`: batches that have ended, and requests that ended without an answer. */
  readonly collected?: { readonly batches: number; readonly unanswered: number };
}

/** The summary of something that ended with this exit code; `said`: what it has done, for people. */
export function doneSummary(
  facts: Omit<DoneSummary, 'outcome' | 'text' | 'name'>,
  called: string | undefined,
  said: string,
): DoneSummary {
  const { exitCode } = facts;
  // Arguments may hold a credential, and folders say who somebody is.
  const name = called === undefined ? undefined : basename(called);
  const end = exitCode === exitCodes.fine ? '' : ` failed with exit code ${exitCode}`;
  return {
    ...(name !== undefined && { name }),
    outcome: exitCode === exitCodes.fine ? 'done' : 'failed',
    text: `${name ?? `batchling ${facts.command}`}${end}: ${said}`,
    ...facts,
  };
}

export function statsText(stats: Stats): string {
  return stats.captured + stats.bypassed === 0 ? 'no LLM call was captured' : summaryLine(stats);
}

/** What was done since `before`. */
export function statsSince(before: Stats, now: Stats): Stats {
  const difference = emptyStats();
  addStats(difference, now);
  addStats(difference, negative(before) as Stats);
  return difference;
}

function negative(value: unknown): unknown {
  if (typeof value === 'number') return -value;
  const entries = Object.entries(value as object);
  return Object.fromEntries(entries.map(([name, one]) => [name, negative(one)]));
}
