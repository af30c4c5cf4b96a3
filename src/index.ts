/**
 * Runs the LLM code you already have on the providers' half-price Batch APIs.
 *
 * Importing this replaces `globalThis.fetch` by a wrapper that passes every call on until a scope is
 * open: SDKs keep the `fetch` they find when a client is made, so the wrapper must be there before.
 *
 * @module
 */

import { hookFetchOnImport } from './hooks/install.ts';
import { createBatchify } from './scope/batchify.ts';

hookFetchOnImport();

/**
 * Opens a scope in which LLM calls are batched. With a function it runs the function, waits for all
 * its calls and returns its result; with options alone it returns a `BatchingContext`.
 *
 * @example
 * const answers = await batchify(() => Promise.all(prompts.map(ask)), { window: '5s' });
 *
 * @example
 * await using scope = await batchify({ window: '5s' }).enter();
 */
export const batchify = createBatchify(true);

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
