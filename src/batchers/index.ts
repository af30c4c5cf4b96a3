/**
 * The batchers and what is needed to write one: `batchling/batchers`.
 *
 * @module
 */

export { BatchlingError, NotSentError, UnknownOutcomeError } from '../errors.ts';
export { splitLines } from '../http/jsonl.ts';
export { type FilePart, multipart } from '../http/multipart.ts';
export type { Credentials, StreamedBody, Wire, WireReply, WireRequest } from '../http/wire.ts';
export { anthropicMessages } from '../streams/anthropic.ts';
export { googleArray, googleEvents } from '../streams/google.ts';
export { openaiChat } from '../streams/openai-chat.ts';
export { openaiResponses } from '../streams/openai-responses.ts';
export type { StreamDialect } from '../streams/stream-dialect.ts';
export type { Answer, Counts, Dict, Handle, ItemId } from '../types.ts';
export { AnthropicBatcher } from './anthropic/anthropic-batcher.ts';
export { anthropicInfo } from './anthropic/anthropic-info.ts';
export {
  type BadLine,
  Batcher,
  type BatchFailure,
  type Bypass,
  type Call,
  type CompletionWindow,
  type Envelope,
  type FanOut,
  type Found,
  type Item,
  type Limits,
  type Match,
  type Outcome,
  type Plan,
  type PolledBatch,
  type Remote,
  type ReplyMeaning,
  type RetryReason,
  type Route,
  type Row,
  type Usage,
} from './batcher.ts';
export { FileBatcher } from './file-batcher.ts';
export { GoogleBatcher } from './google/google-batcher.ts';
export { googleInfo } from './google/google-info.ts';
export { OpenAIBatcher } from './openai/openai-batcher.ts';
export { openaiInfo } from './openai/openai-info.ts';
export { judgeOpenAI } from './openai/openai-judge.ts';
export { type OpenAIStatus, type StatusWords, toRemote } from './openai/openai-remote.ts';
export { readResultLine } from './openai/openai-results.ts';
export type { ProviderInfo, Setting, Settings } from './provider-info.ts';
export type { ProviderNotes } from './provider-notes.ts';
export type { BatcherClass } from './registry.ts';
export { type BatchList, batchPages, pollBatches } from './shared/batch-list.ts';
export {
  elementTexts,
  memberText,
  onOneLine,
  withMember,
  withoutMembers,
} from './shared/json-text.ts';
export {
  type FailedReply,
  judgeByStatus,
  type ReplyJudge,
  type ReplyVerdict,
} from './shared/judge-reply.ts';
export { createdAt, ListOrder } from './shared/list-order.ts';
export {
  answerHeaders,
  count,
  field,
  fields,
  isEmpty,
  outcomeOf,
  parseJson,
  text,
} from './shared/outcomes.ts';
export { RefusedError } from './shared/refused-error.ts';
export { createdBody, expectOk, isVisible, ReplyError } from './shared/replies.ts';
export { batchBody, idOf, type ListPage, listPage } from './shared/reply-shapes.ts';
export { resultRows } from './shared/result-rows.ts';
