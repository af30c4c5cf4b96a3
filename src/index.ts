/**
 * Runs the LLM code you already have on the providers' half-price Batch APIs.
 *
 * Importing this replaces `globalThis.fetch` by a wrapper that passes everything on until a scope is
 * open: SDKs keep the `fetch` they find when a client is made, so it has to be there early.
 *
 * @module
 */
import { createBatchify } from './batchify.ts';
import { hookFetchEarly } from './hooks/early.ts';

hookFetchEarly();

/**
 * Opens a scope in which LLM calls are batched.
 *
 * @example
 * const answers = await batchify(() => Promise.all(prompts.map(ask)), { window: '5s' });
 */
export const batchify = createBatchify(true);

export type { Batchify } from './batchify.ts';
export type { BatchingContext } from './context.ts';
export { BatchlingError, type BatchlingErrorCode } from './errors.ts';
export type { BatchifyOptions } from './options.ts';
export type { BatchlingEventName, BatchlingEvents } from './orchestrator/events.ts';
export type { Stats } from './orchestrator/stats.ts';
export { realtime } from './realtime.ts';
export type { Clock, Logger } from './types.ts';
