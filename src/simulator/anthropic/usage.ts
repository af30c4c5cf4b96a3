import { isObject, type JsonObject } from '../server/json.ts';
import type { SimulatedUsage } from '../world/usage/usage.ts';

/** A message that tells this usage: its `input_tokens` are those that the cache has nothing to do with. */
export function tellUsage(message: JsonObject, usage: SimulatedUsage): JsonObject {
  const { input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning, webSearches } = usage;
  const searches = { web_search_requests: webSearches, web_fetch_requests: 0 };
  return {
    ...message,
    usage: {
      ...(isObject(message.usage) && message.usage),
      input_tokens: input - cacheRead - cacheWrite - cacheWrite1h,
      cache_creation_input_tokens: cacheWrite + cacheWrite1h,
      cache_read_input_tokens: cacheRead,
      cache_creation: {
        ephemeral_5m_input_tokens: cacheWrite,
        ephemeral_1h_input_tokens: cacheWrite1h,
      },
      output_tokens: output,
      output_tokens_details: reasoning > 0 ? { thinking_tokens: reasoning } : null,
      server_tool_use: webSearches > 0 ? searches : null,
      inference_geo: usage.inferenceGeo,
    },
  };
}
