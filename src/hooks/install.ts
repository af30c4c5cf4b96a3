import { guardAborts } from './abort-guard/abort-guard.ts';
import { detectBypasses } from './bypass-detector.ts';
import { watchClientTimers } from './client-timers/client-timers.ts';
import { hookFetch, isFetchHooked } from './fetch/fetch.ts';
import { hookHttp2, isHttp2Hooked } from './http2/http2.ts';
import { hookNodeHttp, isNodeHttpHooked } from './node-http/node-http.ts';
import { isGlobalLocked } from './patch-registry.ts';

const all = [hookFetch, hookNodeHttp, hookHttp2, guardAborts, detectBypasses, watchClientTimers];

/**
 * Installs everything that a scope with hooks needs, or nothing if a global is locked.
 *
 * @returns the undo.
 */
export function installHooks(): () => void {
  const undo: (() => void)[] = [];
  const undoAll = () => {
    for (const undoOne of undo) undoOne();
  };
  try {
    for (const hook of all) undo.push(hook());
  } catch (error) {
    undoAll();
    throw error;
  }
  return undoAll;
}

/** False when another library has replaced a hooked global since. */
export function areHooksInPlace(): boolean {
  return isFetchHooked() && isNodeHttpHooked() && isHttp2Hooked();
}

/**
 * Hooks `fetch` when the package is imported. A locked global is no error yet: the program may never
 * open a scope, or only scopes without hooks; `batchify()` reports it otherwise.
 */
export function hookFetchOnImport(): void {
  try {
    hookFetch();
  } catch (error) {
    if (!isGlobalLocked(error)) throw error;
  }
}
