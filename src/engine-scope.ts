import type { ResolvedOptions } from './options.ts';
import type { EngineScope } from './orchestrator/pending.ts';
import type { ScopeEvents } from './scope-events.ts';

/** The options of a scope, as far as the engine asks for them. */
export function engineScope(
  options: ResolvedOptions,
  events: ScopeEvents,
): EngineScope & { flushing: boolean } {
  const { window, maxWindow, batchSize, completionWindow, attempts } = options;
  const policy = { window, maxWindow, batchSize, completionWindow, attempts };
  return {
    policy,
    policyKey: Object.values(policy).join(),
    poll: options.poll,
    maxInFlight: options.maxInFlight,
    cache: options.cache,
    only: options.only,
    deadline: options.deadline,
    onDeadline: options.onDeadline,
    cancelsAtAnyCost: (provider) => options.providers[provider]?.cancelAtDeadline === true,
    minBatch: options.minBatch,
    cleanup: options.cleanup,
    name: options.name,
    tags: options.tags,
    flushing: false,
    emit: events.emit,
  };
}
