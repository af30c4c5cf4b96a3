import type { ResolvedOptions } from '../../options/index.ts';
import { aheadOfWall } from '../../options/system-clock.ts';
import type { EngineScope } from '../../orchestrator/model/call.ts';
import type { ScopeEvents } from '../scope-events.ts';

const noSettings = {};

/** The options of a scope, as far as the engine asks for them. */
export function scopeTerms(
  options: ResolvedOptions,
  { emit }: Pick<ScopeEvents, 'emit'>,
): EngineScope & { flushing: boolean; ended: boolean } {
  const { lane, window, maxWindow, batchSize, completionWindow, attempts } = options;
  const { minBatch, onSmallBatch, onDeadline, onSlow, budget, canary, primeCache } = options;
  const { realtimeConcurrency } = options;
  const deadline = inTimeOf(options.clock, options.deadline);
  const policy = { lane, window, maxWindow, batchSize, completionWindow, attempts };
  const settings = JSON.stringify(options.providers);
  return {
    policy,
    // One batch cannot go realtime for one scope and not for the other, nor end at two moments.
    policyKey: [
      ...Object.values(policy),
      minBatch,
      onSmallBatch,
      Number(deadline),
      onDeadline,
      onSlow,
      budget,
      canary,
      primeCache,
      settings,
    ].join(),
    poll: options.poll,
    maxInFlight: options.maxInFlight,
    cache: options.cache,
    only: options.only,
    deadline,
    onDeadline,
    onSlow,
    settings: (provider) => options.providers[provider] ?? noSettings,
    minBatch,
    onSmallBatch,
    mayGoUnbatched: options.bypass !== 'error',
    realtimeConcurrency,
    mayCall:
      lane !== 'batch' ||
      minBatch > 1 ||
      onDeadline !== 'error' ||
      onSlow !== 'wait' ||
      canary === 'call',
    budget,
    canary,
    primeCache,
    cleanup: options.cleanup,
    webhook: options.webhook,
    name: options.name,
    tags: options.tags,
    flushing: false,
    ended: false,
    emit,
  };
}

/** A `Date` is the user's wall time, of which our clock may be ahead. */
function inTimeOf(
  clock: ResolvedOptions['clock'],
  deadline: ResolvedOptions['deadline'],
): ResolvedOptions['deadline'] {
  if (!(deadline instanceof Date)) return deadline;
  const ahead = aheadOfWall(clock);
  return ahead === 0 ? deadline : new Date(deadline.getTime() + ahead);
}
