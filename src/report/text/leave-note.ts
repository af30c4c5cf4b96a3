import { collectCommand } from './collect-command.ts';
import { counted } from './summary.ts';

/** What a process leaves to the next run, or to `batchling collect`. */
export interface LeftBehind {
  /** Calls in batches that a provider has, or that another process sends. */
  readonly calls: number;
  /** How many batches hold these calls, as far as they are known. */
  readonly batches: number;
  /** Calls that were sent, without a word from the provider whether it has taken them. */
  readonly unclear: number;
  /** Calls that were not sent. */
  readonly unsent: number;
  /** The ledger outlives the process. */
  readonly isStored: boolean;
  /** The ledgers of the calls that wait. */
  readonly stores: readonly string[];
}

/** What became of the calls that wait, and what to run next. `usual`: the store that need not be named. */
export function leaveNote(
  why: 'detached' | 'interrupted',
  left: LeftBehind,
  usual: string,
): string[] {
  const { calls, batches, unclear, unsent, isStored, stores } = left;
  const facts: string[] = [];
  if (calls > 0)
    facts.push(`${counted(calls, 'call')} ${calls === 1 ? 'waits' : 'wait'} ${where(batches)}`);
  if (unclear > 0) facts.push(`${counted(unclear, 'call')} sent without a reply so far`);
  if (unsent > 0) facts.push(`${counted(unsent, 'call')} not sent`);
  // Calls that went out as ordinary ones.
  if (facts.length === 0) return [];
  return [
    `${why}: ${facts.join('; ')}`,
    ...advice(
      calls + unclear,
      isStored,
      stores.map((store) => collectCommand(store === usual ? undefined : store)),
    ),
  ];
}

function where(batches: number): string {
  if (batches === 0) return 'for the batches of another process';
  return `in ${counted(batches, 'batch', 'batches')} at the provider`;
}

function advice(calls: number, isStored: boolean, collect: readonly string[]): string[] {
  if (calls === 0) return ['run the same command again to send them'];
  if (!isStored) return ['the store was in memory, so their answers cannot be collected any more'];
  return [
    `run the same command again to go on where it stopped, or ${collect.join(' and ')} to fetch answers meanwhile`,
  ];
}
