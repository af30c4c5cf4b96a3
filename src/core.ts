/**
 * The API without touching any global: only `scope.fetch` captures.
 *
 * @module
 */
import { createBatchify } from './batchify.ts';

/**
 * Like `batchify` of `batchling`, but no global is replaced.
 *
 * @example
 * await using scope = batchify();
 * const openai = new OpenAI({ fetch: scope.fetch });
 */
export const batchify = createBatchify(false);

export type { Batchify } from './batchify.ts';
export type { BatchingContext } from './context.ts';
export { BatchlingError, type BatchlingErrorCode } from './errors.ts';
export type { BatchifyOptions } from './options.ts';
export type { BatchlingEventName, BatchlingEvents } from './orchestrator/events.ts';
export type { Stats } from './orchestrator/stats.ts';
export { realtime } from './realtime.ts';
export type { Clock, Logger } from './types.ts';
