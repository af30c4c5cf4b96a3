import { executionAsyncResource } from 'node:async_hooks';

const Timeout = (() => {
  const timer = setTimeout(() => undefined, 0);
  clearTimeout(timer);
  return timer.constructor;
})();

/**
 * Whether an abort that is happening right now comes straight from a timer: a client's own deadline.
 * A batch takes hours by nature, so such a deadline is not the user's wish to stop.
 */
export function isDeadline(reason: unknown): boolean {
  if (executionAsyncResource() instanceof Timeout) return true;
  const { name, code } = (reason ?? {}) as { name?: unknown; code?: unknown };
  return (
    name === 'TimeoutError' ||
    reason === 'timeout' ||
    code === 'ETIMEDOUT' ||
    code === 'ECONNABORTED'
  );
}
