/**
 * The API without touching any global: only `scope.fetch` captures.
 *
 * @module
 */
import { createBatchify } from './context.ts';

/**
 * Like `batchify` of `batchling`, but no global is replaced.
 *
 * @example
 * const scope = batchify();
 * const openai = new OpenAI({ fetch: scope.fetch });
 */
export const batchify = createBatchify(false);

export { type Batchify, type BatchingContext, realtime } from './context.ts';
export { BatchlingError, type BatchlingErrorCode } from './errors.ts';
export type { BatchifyOptions } from './options.ts';
export type { BatchlingEventName, BatchlingEvents } from './orchestrator/events.ts';
export type { Stats } from './orchestrator/stats.ts';
export type { Clock, Logger } from './types.ts';
