/**
 * The batchers and what is needed to write one: `batchling/batchers`.
 *
 * @module
 */

export type { StreamedBody, Wire, WireReply, WireRequest } from '../http/wire.ts';
export { anthropicMessages } from '../streams/anthropic.ts';
export { openaiChat } from '../streams/openai-chat.ts';
export { openaiResponses } from '../streams/openai-responses.ts';
export type { StreamDialect } from '../streams/stream-dialect.ts';
export type { Answer, Counts, Dict, Handle, ItemId } from '../types.ts';
export { AnthropicBatcher } from './anthropic/anthropic-batcher.ts';
export {
  type BadLine,
  Batcher,
  type BatchFailure,
  type Bypass,
  type Call,
  type CompletionWindow,
  type Envelope,
  type Found,
  type Item,
  type Limits,
  type Match,
  type Outcome,
  type Plan,
  type PolledBatch,
  type ProviderInfo,
  type Remote,
  type ReplyMeaning,
  type RetryReason,
  type Route,
  type Row,
  type Usage,
} from './batcher.ts';
export { FileBatcher } from './file-batcher.ts';
export { OpenAIBatcher } from './openai/openai-batcher.ts';
export { openaiInfo } from './openai/openai-info.ts';
export type { BatcherClass } from './registry.ts';
export type { BatchList } from './shared/batch-list.ts';
export { RefusedError } from './shared/refused-error.ts';
