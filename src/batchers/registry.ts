import { AnthropicBatcher } from './anthropic.ts';
import type { Batcher } from './batcher.ts';
import { OpenAIBatcher } from './openai.ts';

/** A class the user may pass as an option. */
export type BatcherClass = new () => Batcher;

const builtIn: readonly BatcherClass[] = [OpenAIBatcher, AnthropicBatcher];

/** One instance of each batcher; the user's own are asked before the built-in ones. */
export function createBatchers(own: readonly BatcherClass[] = []): Batcher[] {
  return [...own, ...builtIn].map((BatcherOfProvider) => new BatcherOfProvider());
}
