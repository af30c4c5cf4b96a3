import { guardAborts } from './abort-guard/abort-guard.ts';
import { detectEscapes } from './bypass-detector.ts';
import { hookFetch, isFetchHooked } from './fetch/fetch.ts';
import { hookNodeHttp, isNodeHttpHooked } from './node-http/node-http.ts';

/**
 * Everything that a scope with hooks puts in place.
 *
 * @returns the undo.
 */
export function installHooks(): () => void {
  const undo: (() => void)[] = [];
  const undoAll = () => {
    for (const undoOne of undo) undoOne();
  };
  try {
    for (const hook of [hookFetch, hookNodeHttp, guardAborts, detectEscapes]) undo.push(hook());
  } catch (error) {
    // One of them is locked: all or nothing.
    undoAll();
    throw error;
  }
  return undoAll;
}

/** Another library may have put something else in place since. */
export function areHooksInPlace(): boolean {
  return isFetchHooked() && isNodeHttpHooked();
}
