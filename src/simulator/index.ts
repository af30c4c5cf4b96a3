export type { FaultAction, FaultRule, Faults, ScriptedFault } from './faults/faults.ts';
export { openaiDescription } from './openai/description.ts';
export type { OpenAILike, StatusWord } from './openai-like/description.ts';
export { type PageSizes, pageAfterId } from './openai-like/page.ts';
export type { SimulatedProvider } from './providers.ts';
export type { LoggedRequest } from './server/request-log.ts';
export type { Simulator, SimulatorOptions } from './simulator.ts';
export { startSimulator } from './simulator.ts';
export type { BatchError, BatchScript } from './world/batches/batch-script.ts';
export type { SimulatorClock } from './world/clockwork.ts';
export type { Execution, Meter, MeterSummary, RefusedCall } from './world/meter.ts';
export type {
  AnswerFunction,
  SimulatedAnswer,
  SimulatedRequest,
  SimulatedToolCall,
} from './world/model/answer-function.ts';
export type {
  ProviderLimits,
  SimulatedWebhook,
  SimulatorSettings,
  SimulatorSettingsChange,
  SimulatorSpeed,
} from './world/settings.ts';
export type { BatchSummary, ForeignBatch } from './world/state.ts';
export type { FlexTier, FullTier } from './world/tiers/flex-settings.ts';
export type { SimulatedPrice } from './world/usage/bill.ts';
export type { PromptCacheSettings } from './world/usage/cache-settings.ts';
export type { SimulatedUsage, UsageFunction } from './world/usage/usage.ts';
