/**
 * The same API as `batchling`, without replacing any global: only `scope.fetch` captures.
 *
 * @module
 */
import { createBatchify } from './scope/batchify.ts';

/**
 * Like `batchify` of `batchling`, but no global is replaced: give your client `scope.fetch`.
 *
 * @example
 * await using scope = batchify();
 * const openai = new OpenAI({ fetch: scope.fetch });
 */
export const batchify = createBatchify(false);

export { BatchlingError, type BatchlingErrorCode } from './base/errors.ts';
export type { Clock, Logger } from './base/types.ts';
export type { FormatName } from './map/lines/line-format.ts';
export { type MapLinesOptions, type MappedLine, mapLines } from './map/map-lines.ts';
export type { LineTerms } from './map/map-request.ts';
export type { BatchifyOptions, Duration } from './options/index.ts';
export type * from './options/provider-names.ts';
export type { DryRunQueue, DryRunSummary } from './orchestrator/dry-run/dry-run-summary.ts';
export type { BatchlingEventName, BatchlingEvents } from './orchestrator/events/events.ts';
export type { Stats } from './orchestrator/model/stats.ts';
export type { Batchify } from './scope/batchify.ts';
export type { BatchingContext } from './scope/batching-context.ts';
export { DryRunExit } from './scope/dry-run/dry-run-exit.ts';
export { realtime } from './scope/realtime.ts';
