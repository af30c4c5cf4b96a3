export type {
  AnswerFunction,
  SimulatedAnswer,
  SimulatedRequest,
  SimulatedToolCall,
} from './answer-function.ts';
export type { BatchError, BatchScript } from './batch-script.ts';
export type { SimulatorClock } from './clockwork.ts';
export type { FaultAction, FaultRule, Faults, ScriptedFault } from './faults.ts';
export type { Execution, Meter, MeterSummary } from './meter.ts';
export type { SimulatedProvider } from './providers.ts';
export type { LoggedRequest } from './request-log.ts';
export type {
  ProviderLimits,
  SimulatorSettings,
  SimulatorSettingsChange,
  SimulatorSpeed,
} from './settings.ts';
export type { Simulator, SimulatorOptions } from './simulator.ts';
export { startSimulator } from './simulator.ts';
export type { BatchSummary, ForeignBatch } from './state.ts';
