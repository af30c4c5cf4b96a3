import { usageOf } from '../openai-like/answers/usage.ts';
import type { JsonObject } from '../server/json.ts';
import type { SimulatedUsage } from '../world/usage/usage.ts';

/** An answer that tells this usage. Where nothing is completed, it counts in its own way. */
export function tellUsage(
  endpoint: string,
  answer: JsonObject,
  { input, output, cacheRead, toolInput, webSearches }: SimulatedUsage,
): JsonObject {
  const counts = usageOf(input, output);
  const cached = {
    num_cached_tokens: cacheRead,
    prompt_token_details: { cached_tokens: cacheRead },
  };
  if (endpoint.endsWith('/completions')) {
    return { ...answer, usage: { ...counts, ...(cacheRead > 0 && cached) } };
  }
  if (endpoint !== '/v1/conversations') return answer;
  const connectors = webSearches > 0 ? { web_search: webSearches } : null;
  const connectorTokens = toolInput > 0 ? toolInput : null;
  return { ...answer, usage: { ...counts, connector_tokens: connectorTokens, connectors } };
}
