import type { ScopeOrRealtime } from '../hooks/state.ts';
import { type ResolvedOptions, resolveOptions } from '../options/index.ts';
import { warnOnce } from '../report/warn-once.ts';
import { parentOf } from './realtime.ts';
import type { Scope } from './scope.ts';

const optionsOf = new WeakMap<object, ResolvedOptions>();
let areVariablesChecked = false;

/** Checks the options that were given to a scope; nested scopes inherit the result. */
export function resolveScopeOptions(scope: Scope, given: unknown): ResolvedOptions {
  const options = resolveOptions(given, inheritedOptions(scope.parent));
  optionsOf.set(scope, options);
  checkVariables();
  return options;
}

/** With the first scope of a process, and after its turn: reading the whole environment is slow. */
function checkVariables(): void {
  if (areVariablesChecked) return;
  areVariablesChecked = true;
  import('../options/unknown-variables.ts').then(
    ({ unknownVariables }) => {
      for (const text of unknownVariables(process.env)) warnOnce(text);
    },
    () => undefined,
  );
}

/** The options of the nearest open scope around this one. */
function inheritedOptions(parent: ScopeOrRealtime | undefined): ResolvedOptions | undefined {
  for (let around = parent; around !== undefined; around = parentOf(around)) {
    const options = optionsOf.get(around);
    if (options && 'open' in around && around.open) return options;
  }
  return undefined;
}
