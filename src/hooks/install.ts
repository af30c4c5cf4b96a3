import { detectEscapes } from './bypass-detector.ts';
import { guardAborts } from './deadline-guard.ts';
import { hookFetch } from './fetch.ts';

/**
 * Everything that a scope with hooks puts in place.
 *
 * @returns the undo.
 */
export function installHooks(): () => void {
  const undo = [hookFetch(), guardAborts(), detectEscapes()];
  return () => {
    for (const undoOne of undo) undoOne();
  };
}
