/**
 * The batchers and what is needed to write one: `batchling/batchers`.
 *
 * @module
 */

export { BatchlingError, NotSentError, UnknownOutcomeError } from '../base/errors.ts';
export { count, field, fields, isEmpty, parseJson, text } from '../base/json.ts';
export type { Answer, Counts, Dict, Handle, ItemId } from '../base/types.ts';
export { splitLines } from '../http/jsonl.ts';
export { type FilePart, multipart } from '../http/multipart.ts';
export type { Credentials, StreamedBody, Wire, WireReply, WireRequest } from '../http/wire.ts';
export { anthropicMessages } from '../streams/anthropic.ts';
export { googleArray, googleEvents } from '../streams/google.ts';
export { mistralChat } from '../streams/mistral-chat.ts';
export { openaiChat } from '../streams/openai-chat.ts';
export { openaiResponses } from '../streams/openai-responses.ts';
export type { StreamDialect } from '../streams/stream-dialect.ts';
export { AnthropicBatcher } from './anthropic/anthropic-batcher.ts';
export { anthropicInfo } from './anthropic/anthropic-info.ts';
export { AzureOpenAIBatcher } from './azure/azure-batcher.ts';
export { azureInfo } from './azure/azure-info.ts';
export {
  type BadLine,
  Batcher,
  type BatchFailure,
  type Bypass,
  type CachedInput,
  type Call,
  type CompletionWindow,
  type Envelope,
  type Expectation,
  type FanOut,
  type FlexTier,
  type Found,
  type Item,
  type Limits,
  type Match,
  type OrdinaryCall,
  type Outcome,
  type Plan,
  type PolledBatch,
  type Remote,
  type ReplyMeaning,
  type RetryReason,
  type Route,
  type Row,
  type Unconfigured,
  type Usage,
} from './batcher.ts';
export {
  dashscopeInfo,
  deepinfraInfo,
  moonshotInfo,
  nebiusInfo,
  novitaInfo,
  ovhcloudInfo,
  parasailInfo,
  perplexityInfo,
  qianfanInfo,
  siliconflowInfo,
  zhipuInfo,
} from './compatible/compatible-info.ts';
export { DashScopeBatcher } from './dashscope/dashscope-batcher.ts';
export { DeepInfraBatcher } from './deepinfra/deepinfra-batcher.ts';
export { DoublewordBatcher } from './doubleword/doubleword-batcher.ts';
export { doublewordInfo } from './doubleword/doubleword-info.ts';
export { FileBatcher } from './file-batcher.ts';
export { FireworksBatcher } from './fireworks/fireworks-batcher.ts';
export { fireworksInfo } from './fireworks/fireworks-info.ts';
export { GoogleBatcher } from './google/google-batcher.ts';
export { googleInfo } from './google/google-info.ts';
export { GroqBatcher } from './groq/groq-batcher.ts';
export { groqInfo } from './groq/groq-info.ts';
export { MistralBatcher } from './mistral/mistral-batcher.ts';
export { mistralInfo } from './mistral/mistral-info.ts';
export { MoonshotBatcher } from './moonshot/moonshot-batcher.ts';
export { NebiusBatcher } from './nebius/nebius-batcher.ts';
export { NovitaBatcher } from './novita/novita-batcher.ts';
export { OpenAIBatcher } from './openai/openai-batcher.ts';
export { openaiInfo } from './openai/openai-info.ts';
export { judgeOpenAI } from './openai/openai-judge.ts';
export { type OpenAIStatus, type StatusWords, toRemote } from './openai/openai-remote.ts';
export { readResultLine } from './openai/openai-results.ts';
export { OVHcloudBatcher } from './ovhcloud/ovhcloud-batcher.ts';
export { ParasailBatcher } from './parasail/parasail-batcher.ts';
export { PerplexityBatcher } from './perplexity/perplexity-batcher.ts';
export type { ProviderInfo, SampleCall, Setting, Settings, WirePaths } from './provider-info.ts';
export type { ProviderNotes } from './provider-notes.ts';
export { QianfanBatcher } from './qianfan/qianfan-batcher.ts';
export type { BatcherClass } from './registry.ts';
export { SferenceBatcher } from './sference/sference-batcher.ts';
export { sferenceInfo } from './sference/sference-info.ts';
export { type BatchList, batchPages, pollBatches } from './shared/batch-list.ts';
export { findAbove, highWaterOf } from './shared/high-water.ts';
export { type InlineFrame, inlineBody, inlineFrameBytes } from './shared/inline-body.ts';
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
  judgePlace,
  type ReplyJudge,
  type ReplyVerdict,
} from './shared/judge-reply.ts';
export { createdAt, ListOrder } from './shared/list-order.ts';
export { judgeNamedLine, judgeNamedRequest } from './shared/named-request.ts';
export { answerHeaders, outcomeOf } from './shared/outcomes.ts';
export { RefusedError } from './shared/refused-error.ts';
export { createdBody, expectOk, isVisible, okReply, ReplyError } from './shared/replies.ts';
export { batchBody, idOf, type ListPage, listPage } from './shared/reply-shapes.ts';
export { resultRows } from './shared/result-rows.ts';
export { type RpcStatus, rpcStatus, rpcStatusFor } from './shared/rpc-status.ts';
export { statusByWords } from './shared/status-by-words.ts';
export { SiliconFlowBatcher } from './siliconflow/siliconflow-batcher.ts';
export { TogetherBatcher } from './together/together-batcher.ts';
export { togetherInfo } from './together/together-info.ts';
export { googleCredential } from './vertex/google-credential.ts';
export { VertexBatcher } from './vertex/vertex-batcher.ts';
export { vertexInfo } from './vertex/vertex-info.ts';
export { XaiBatcher } from './xai/xai-batcher.ts';
export { xaiInfo } from './xai/xai-info.ts';
export { ZhipuBatcher } from './zhipu/zhipu-batcher.ts';
