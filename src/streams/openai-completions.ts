import type { JsonObject } from '../base/json.ts';
import { type ChunkOptions, chunkDialect } from './openai-chunks.ts';
import type { StreamDialect } from './stream-dialect.ts';

/** A text completion as chunks: every text in one piece, and then the reason of its end. */
export function openaiCompletions(options: ChunkOptions): StreamDialect {
  return chunkDialect('text_completion', options, tellChoice);
}

function tellChoice(choice: JsonObject, position: number): JsonObject[] {
  const { index = position, text, logprobs = null, finish_reason: reason, ...rest } = choice;
  return [
    { index, text: text ?? '', logprobs, finish_reason: null },
    { index, text: '', logprobs: null, finish_reason: reason ?? 'stop', ...rest },
  ];
}
