import { BatchlingError } from '../errors.ts';
import type { Surroundings } from '../hooks/state.ts';
import { type ResolvedOptions, resolveOptions } from '../options/index.ts';
import { warnOnce } from '../report/warn-once.ts';
import { outsideOf } from './realtime.ts';
import type { Scope } from './scope.ts';

const optionsOf = new WeakMap<object, ResolvedOptions>();
let areVariablesChecked = false;

/** Checks what was given to a scope; scopes inside of it inherit the result. */
export function resolveScopeOptions(scope: Scope, given: unknown): ResolvedOptions {
  const options = resolveOptions(given, inheritedOptions(scope.parent));
  refuseUnbuilt(options);
  optionsOf.set(scope, options);
  checkVariables();
  return options;
}

/** With the first scope of a process, and not in its turn: looking through the environment is slow. */
function checkVariables(): void {
  if (areVariablesChecked) return;
  areVariablesChecked = true;
  import('../options/unknown-variables.ts').then(
    ({ unknownVariables }) => {
      for (const text of unknownVariables(process.env)) warnOnce(text);
    },
    // Nothing depends on it.
    () => undefined,
  );
}

/** A nested scope inherits every option it does not set, from its nearest surrounding scope. */
function inheritedOptions(around: Surroundings | undefined): ResolvedOptions | undefined {
  for (let place = around; place !== undefined; place = outsideOf(place)) {
    const options = optionsOf.get(place);
    if (options && 'open' in place && place.open) return options;
  }
  return undefined;
}

/** Options of the contract that no code stands behind yet: better refused than ignored. */
function refuseUnbuilt({ budget, dryRun }: ResolvedOptions): void {
  const asked = Object.entries({
    budget: budget !== undefined,
    dryRun,
  }).find(([, isAsked]) => isAsked);
  if (asked === undefined) return;
  throw new BatchlingError(
    'NOT_AVAILABLE',
    `The option ${asked[0]} is not available in this version of batchling. Leave it out.`,
    { facts: { option: asked[0] } },
  );
}
