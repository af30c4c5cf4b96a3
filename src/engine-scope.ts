import type { ResolvedOptions } from './options.ts';
import type { EngineScope } from './orchestrator/pending.ts';
import type { ScopeEvents } from './scope-events.ts';

/** The options of a scope, as far as the engine asks for them. */
export function engineScope(
  options: ResolvedOptions,
  events: ScopeEvents,
): EngineScope & { flushing: boolean } {
  const { window, maxWindow, batchSize, completionWindow, attempts } = options;
  const { minBatch, deadline, onDeadline } = options;
  const policy = { window, maxWindow, batchSize, completionWindow, attempts };
  return {
    policy,
    // One batch cannot go realtime for one scope and not for the other, nor end at two moments.
    policyKey: [...Object.values(policy), minBatch, Number(deadline), onDeadline].join(),
    poll: options.poll,
    maxInFlight: options.maxInFlight,
    cache: options.cache,
    only: options.only,
    deadline,
    onDeadline,
    cancelsAtAnyCost: (provider) => options.providers[provider]?.cancelAtDeadline === true,
    minBatch,
    cleanup: options.cleanup,
    name: options.name,
    tags: options.tags,
    flushing: false,
    emit: events.emit,
  };
}
