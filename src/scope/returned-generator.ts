import type { HookScope } from '../hooks/border.ts';
import { sharedState } from '../hooks/state.ts';

const steps = ['next', 'return', 'throw'] as const;

/**
 * A generator that a scope's function returns runs when it is consumed: after the scope has closed, and
 * in its consumer's context. Its steps run in the closed scope, unless its consumer is in another one,
 * so that its LLM calls are reported.
 */
export function followGenerator(result: unknown, scope: HookScope): void {
  if (!isGenerator(result)) return;
  const { scopes } = sharedState();
  for (const name of steps) {
    const step = result[name];
    const value = function (this: unknown, ...parameters: unknown[]) {
      const run = () => Reflect.apply(step, this, parameters);
      return scopes.getStore() === undefined ? scopes.run(scope, run) : run();
    };
    Object.defineProperty(result, name, { value, writable: true, configurable: true });
  }
}

type Step = (...parameters: unknown[]) => unknown;

function isGenerator(value: unknown): value is Record<(typeof steps)[number], Step> {
  if (!/^\[object (Async)?Generator\]$/.test(Object.prototype.toString.call(value))) return false;
  return steps.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
}
