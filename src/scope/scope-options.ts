import type { ScopeOrRealtime } from '../hooks/border.ts';
import { type ResolvedOptions, resolveOptions } from '../options/index.ts';
import { warnOnce } from '../report/warn-once.ts';
import { ScopeCalls } from './calls/scope-calls.ts';
import { parentOf } from './realtime.ts';

let areVariablesChecked = false;

/** Checks the options that were given to a scope; nested scopes inherit the result. */
export function resolveScopeOptions(
  parent: ScopeOrRealtime | undefined,
  given: unknown,
): ResolvedOptions {
  const options = resolveOptions(given, inheritedOptions(parent));
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
    if (around instanceof ScopeCalls && around.open) return around.options;
  }
  return undefined;
}
