import type { HookScope, RealtimeMark, ScopeOrRealtime } from '../hooks/border.ts';
import { sharedState } from '../hooks/state.ts';

/** The parent is for inheriting options only: calls inside of `realtime` look for no scope. */
interface MarkWithParent extends RealtimeMark {
  readonly parent: ScopeOrRealtime | undefined;
}

/** A mark without a parent comes from another copy of the package, or was made for a single call. */
export function parentOf(around: ScopeOrRealtime): ScopeOrRealtime | undefined {
  return (around as HookScope | Partial<MarkWithParent>).parent;
}

/**
 * Runs a function whose LLM calls go out as ordinary ones although a scope is open: at once, at full
 * price, and without a warning. Returns what the function returns.
 *
 * @example
 * const plan = await realtime(() => ask('What should I ask first?'));
 */
export function realtime<T>(fn: () => T): T {
  const { scopes } = sharedState();
  const around = scopes.getStore();
  // Marks are not chained: a recursive loop of `realtime` would grow the chain without end.
  const parent = around && 'realtime' in around ? parentOf(around) : around;
  const mark: MarkWithParent = { realtime: true, parent };
  return scopes.run(mark, fn);
}
