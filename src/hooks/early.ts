import { BatchlingError } from '../errors.ts';
import { hookFetch } from './fetch/fetch.ts';

/**
 * Hooks `fetch` on import. Where it is locked, nothing is said: the program may never open a scope,
 * or only such that need no hook, and who opens another one is told then.
 */
export function hookFetchEarly(): void {
  try {
    hookFetch();
  } catch (error) {
    if (!isLocked(error)) throw error;
  }
}

/** Whether a hook could not be put in place because somebody else has locked the global. */
export function isLocked(error: unknown): error is BatchlingError {
  return BatchlingError.isInstance(error) && error.code === 'GLOBAL_LOCKED';
}
