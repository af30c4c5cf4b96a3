import type { JsonObject } from '../../server/json.ts';
import { newId } from '../../world/random.ts';
import type { SimulatedUsage } from '../../world/usage/usage.ts';

/** The tokens of an answer that is made by completing a prompt. */
export function usageOf(inputTokens: number, outputTokens: number) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

/** By endpoint: an answer that tells this usage in OpenAI's words. */
export const usageTellers: Record<
  string,
  (answer: JsonObject, usage: SimulatedUsage) => JsonObject
> = {
  '/v1/chat/completions': (answer, usage) => ({ ...answer, usage: chatUsage(usage) }),
  '/v1/responses': tellResponse,
  '/v1/completions': (answer, { input, output }) => ({ ...answer, usage: usageOf(input, output) }),
};

function chatUsage(usage: SimulatedUsage): JsonObject {
  const { input, output, cacheRead, audioInput, audioOutput, reasoning } = usage;
  return {
    ...usageOf(input, output),
    prompt_tokens_details: {
      cached_tokens: cacheRead,
      ...writtenTo(usage),
      audio_tokens: audioInput,
    },
    completion_tokens_details: { reasoning_tokens: reasoning, audio_tokens: audioOutput },
  };
}

/** Models that write for nothing do not tell it. */
function writtenTo({ cacheWrite, cacheWrite1h }: SimulatedUsage): JsonObject {
  const written = cacheWrite + cacheWrite1h;
  return written > 0 ? { cache_write_tokens: written } : {};
}

/** Searches stand among the output: no number counts them. */
function tellResponse(answer: JsonObject, usage: SimulatedUsage): JsonObject {
  const { input, output, cacheRead, reasoning, webSearches } = usage;
  const searches = Array.from({ length: webSearches }, (_, index) => ({
    id: newId('ws_'),
    type: 'web_search_call',
    status: 'completed',
    action: { type: 'search', query: `search ${index + 1}` },
  }));
  return {
    ...answer,
    output: [...searches, ...(Array.isArray(answer.output) ? answer.output : [])],
    usage: {
      input_tokens: input,
      input_tokens_details: {
        cached_tokens: cacheRead,
        cache_write_tokens: 0,
        ...writtenTo(usage),
      },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + output,
    },
  };
}
