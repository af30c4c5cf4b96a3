import { BatchlingError } from '../base/errors.ts';
import type { BatchifyOptions } from '../options/index.ts';
import { show } from '../options/shown-value.ts';
import { BatchingContext } from './batching-context.ts';
import { followGenerator } from './returned-generator.ts';
import { Scope } from './scope.ts';

/**
 * The signatures of `batchify`.
 *
 * @example
 * const answers = await batchify(() => Promise.all(prompts.map(ask)), { window: '5s' });
 *
 * @example
 * await using scope = await batchify({ window: '5s' }).enter();
 */
export interface Batchify {
  /** Makes a scope and returns it; see `BatchingContext`. */
  (options?: BatchifyOptions): BatchingContext;
  /** The same, for code that may or may not have a function to run. */
  (fn: undefined, options?: BatchifyOptions): BatchingContext;
  /** Runs the function in a new scope, waits for all its calls, closes the scope, returns the result. */
  <T>(fn: () => T, options?: BatchifyOptions): Promise<Awaited<T>>;
}

/** `hooks`: whether scopes of this entry point may replace globals. */
export function createBatchify(hooks: boolean): Batchify {
  function batchify<T>(first?: unknown, second?: BatchifyOptions) {
    if (typeof first === 'function')
      return runScope(new Scope(second, hooks, 'function'), first as () => T);
    assertOptions(first, second);
    return new BatchingContext(new Scope(first ?? second, hooks));
  }
  return batchify as Batchify;
}

async function runScope<T>(scope: Scope, fn: () => T): Promise<Awaited<T>> {
  let result: Awaited<T>;
  try {
    scope.signal?.throwIfAborted();
    result = await orStopped(scope, scope.run(fn));
  } catch (error) {
    // A signal that has ended the scope is the true reason: clients turn an aborted fetch into errors
    // of their own, such as a timeout after some retries.
    scope.signal?.throwIfAborted();
    scope.abandon();
    throw error;
  }
  await finish(scope);
  followGenerator(result, scope.calls);
  return result;
}

async function finish(scope: Scope): Promise<void> {
  const { dryRun } = scope.calls;
  try {
    await orStopped(scope, scope.close());
  } catch (error) {
    if (dryRun) scope.abandon();
    throw error;
  }
  const exit = await dryRun?.exitAfterPlaceholders();
  if (exit) throw exit;
}

/** The result, unless a dry run stops first: then what waits for its calls would wait for ever. */
function orStopped<T>(scope: Scope, result: T): T | Promise<Awaited<T>> {
  const { dryRun } = scope.calls;
  return dryRun ? Promise.race([result, dryRun.stopped]) : result;
}

/** Throws where the first argument is neither a function nor options, and says what it is. */
function assertOptions(first: unknown, second: unknown): void {
  if (first === undefined || (isPlain(first) && second === undefined)) return;
  // The rejection of that promise must not end the process before this error is seen.
  if (first instanceof Promise) first.catch(() => undefined);
  const given = isThenable(first)
    ? 'a promise, whose calls were made before there was a scope'
    : isPlain(first)
      ? 'options twice'
      : show(first);
  throw new BatchlingError(
    'INVALID_OPTION',
    `batchify was given ${given}. Pass a function: batchify(() => …, options), or options alone.`,
    { facts: { option: 'fn', allowed: 'a function' } },
  );
}

function isPlain(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object Object]' && !isThenable(value);
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value;
}
