import type { JsonObject } from '../server/json.ts';
import { listOf } from '../world/model/stream-pieces.ts';
import type { SimulatedUsage } from '../world/usage/usage.ts';

/** An answer that tells this usage. Thoughts, and what tools have read, are counted beside the rest. */
export function tellUsage(answer: JsonObject, usage: SimulatedUsage): JsonObject {
  const { input, output, reasoning, toolInput, cacheRead, audioInput, audioOutput } = usage;
  const prompt = input - toolInput;
  const candidates = output - reasoning;
  return {
    ...answer,
    candidates: withSearches(answer.candidates, usage.webSearches),
    usageMetadata: {
      promptTokenCount: prompt,
      ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
      candidatesTokenCount: candidates,
      ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
      ...(toolInput > 0 && { toolUsePromptTokenCount: toolInput }),
      totalTokenCount: input + output,
      ...(audioInput > 0 && { promptTokensDetails: modalities(prompt, audioInput) }),
      ...(audioOutput > 0 && { candidatesTokensDetails: modalities(candidates, audioOutput) }),
    },
  };
}

function modalities(all: number, audio: number): JsonObject[] {
  return [
    { modality: 'TEXT', tokenCount: all - audio },
    { modality: 'AUDIO', tokenCount: audio },
  ];
}

/** Each query was searched for. */
function withSearches(candidates: unknown, searches: number): unknown {
  if (searches === 0) return candidates;
  const webSearchQueries = Array.from({ length: searches }, (_, at) => `search ${at + 1}`);
  return listOf(candidates).map((one) => ({ ...one, groundingMetadata: { webSearchQueries } }));
}
