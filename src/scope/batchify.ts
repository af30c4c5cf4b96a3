import { BatchlingError } from '../errors.ts';
import type { BatchifyOptions } from '../options/index.ts';
import { show } from '../options/show.ts';
import { BatchingContext } from './batching-context.ts';
import { followGenerator } from './returned-generator.ts';
import { Scope } from './scope.ts';

/** `batchify`, bound to an entry point that touches globals or one that does not. */
export interface Batchify {
  /** Makes a scope; see `BatchingContext`. */
  (options?: BatchifyOptions): BatchingContext;
  /** The same, for code that may have a function to run or none. */
  (fn: undefined, options?: BatchifyOptions): BatchingContext;
  /** Runs the function in a scope of its own, waits for all its calls, returns what it returned. */
  <T>(fn: () => T, options?: BatchifyOptions): Promise<Awaited<T>>;
}

export function createBatchify(hooks: boolean): Batchify {
  function batchify<T>(first?: unknown, second?: BatchifyOptions) {
    if (typeof first === 'function') return runScope(new Scope(second, hooks), first as () => T);
    assertOptions(first, second);
    return new BatchingContext(new Scope(first ?? second, hooks));
  }
  return batchify as Batchify;
}

async function runScope<T>(scope: Scope, fn: () => T): Promise<Awaited<T>> {
  let result: Awaited<T>;
  try {
    scope.signal?.throwIfAborted();
    result = await scope.run(fn);
  } catch (error) {
    // The scope has ended already. Clients make errors of their own of a fetch that was aborted by
    // somebody else, a timeout for example, after some retries.
    scope.signal?.throwIfAborted();
    scope.abandon();
    throw error;
  }
  await scope.close();
  followGenerator(result, scope);
  return result;
}

/** What stands where a function or options should, so that the user learns which one was meant. */
function assertOptions(first: unknown, second: unknown): void {
  if (first === undefined || (isPlain(first) && second === undefined)) return;
  // Its calls are made, and its own error must not hide this one.
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
