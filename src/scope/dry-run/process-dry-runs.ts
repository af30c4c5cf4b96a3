import { sharedState } from '../../hooks/state.ts';
import { exit } from '../leaving/exit.ts';

/** The dry run of one scope, as the end of the process sees it. */
export interface ScopesDryRun {
  /** Calls of it wait, and it will stop. */
  readonly isUnderWay: boolean;
  tell(): Promise<unknown>;
}

/** Ends the process once the dry runs of all its scopes have stopped: the others still count their calls. */
export async function exitWhenAllHaveStopped(): Promise<void> {
  // Of all copies of the package in this process.
  const all = [...sharedState().dryRuns] as ScopesDryRun[];
  if (all.some(({ isUnderWay }) => isUnderWay)) return;
  await Promise.all(all.map((one) => one.tell()));
  exit(0);
}
