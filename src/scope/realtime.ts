import {
  type HookScope,
  type RealtimeMark,
  type ScopeOrRealtime,
  sharedState,
} from '../hooks/state.ts';

/** For options only: calls inside of `realtime` look for no scope further out. */
interface MarkWithParent extends RealtimeMark {
  readonly parent: ScopeOrRealtime | undefined;
}

/** A mark may have no parent: it is one of another copy of the package, or made for a single call. */
export function outsideOf(place: ScopeOrRealtime): ScopeOrRealtime | undefined {
  return (place as HookScope | Partial<MarkWithParent>).parent;
}

/**
 * Runs a function whose LLM calls go out as ordinary ones, although a scope is open.
 *
 * @example
 * const plan = await realtime(() => ask('What should I ask first?'));
 */
export function realtime<T>(fn: () => T): T {
  const { scopes } = sharedState();
  const around = scopes.getStore();
  // Not the mark around this one: a loop that goes on inside of itself would chain them for ever.
  const parent = around && 'realtime' in around ? outsideOf(around) : around;
  const mark: MarkWithParent = { realtime: true, parent };
  return scopes.run(mark, fn);
}
