import type { CallHandle, CapturedCall, EngineScope } from './call.ts';

/** Where the calls of a scope go: the engine, or a dry run in its place. */
export interface CallEngine {
  /** Its ledger outlives the process. */
  readonly isStored: boolean;
  capture(call: CapturedCall): CallHandle;
  /** Sends what the scope has waiting, without waiting for company any longer. */
  flush(scope?: EngineScope): Promise<void>;
  /** Waits for ended batches of a scope until they are collected, or need another try at least. */
  collected(scope: EngineScope): Promise<void>;
  /** Ends calls of a scope with an answer of ours, and cancels at the provider. */
  cancel(handles: readonly CallHandle[], message: string): Promise<void>;
}
