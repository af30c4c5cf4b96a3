import { whileUp } from '../calls/calls-under-way.ts';
import { processCalls } from '../process-calls.ts';
import { tellLeft } from './tell-left.ts';

/** Leaves while calls wait, and tells the user what waits. */
export function leave(why: 'detached' | 'interrupted'): Promise<void> {
  return whileUp(async () => {
    const tell = await leaveCalls(why);
    await tell();
  });
}

/**
 * Leaves while calls wait: nothing more is captured or sent in any scope of the process, a create in flight
 * is recorded, and all engines leave their ledgers, so that another process can go on.
 *
 * @returns what tells the user.
 */
export function leaveCalls(why: 'detached' | 'interrupted'): Promise<() => Promise<void>> {
  const calls = processCalls();
  calls.keepAlive.holdOn();
  calls.leave();
  return whileUp(async () => {
    const { leaveEngines } = await import('../engine/engines.ts');
    await leaveEngines();
    // Only now: a create that was in flight is one of the batches that wait.
    const { submitted, batches, ...others } = calls.waiting();
    const { isStored, stores } = calls;
    const left = { calls: submitted, batches: batches.size, ...others, isStored, stores };
    return () => tellLeft(why, left);
  });
}
