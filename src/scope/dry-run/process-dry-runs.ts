import { sharedState } from '../../hooks/state.ts';
import { exit } from '../leaving/exit.ts';

/** Ends the process once the dry runs of all its scopes have stopped: the others still count their calls. */
export async function exitWhenAllHaveStopped(): Promise<void> {
  // All copies of the package in this process add theirs.
  const all = [...sharedState().dryRuns];
  if (all.some(({ isUnderWay }) => isUnderWay)) return;
  await Promise.all(all.map((one) => one.tell()));
  exit(0);
}
