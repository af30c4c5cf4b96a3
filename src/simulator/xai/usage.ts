import { isObject, type JsonObject } from '../server/json.ts';
import type { SimulatedUsage } from '../world/usage/usage.ts';

/** Its completion tokens do not contain the reasoning. An answer may say what it was billed. */
export function xaiUsage(told: JsonObject, usage: SimulatedUsage): JsonObject {
  const { output, reasoning, webSearches, billedTicks } = usage;
  const more = {
    num_sources_used: webSearches,
    ...(billedTicks !== null && { cost_in_usd_ticks: billedTicks }),
  };
  if (!isObject(told.completion_tokens_details)) return { ...told, ...more };
  return { ...told, completion_tokens: output - reasoning, ...more };
}
