import { field, type JsonObject } from '../../base/json.ts';

/**
 * What Anthropic takes outside of a batch only, and why a call with it goes out by itself. It would tell
 * so at the end of the batch, hours later, as an error of this one request.
 */
export function refusedInBatches(json: JsonObject): string | undefined {
  if (json.speed !== undefined) return '`speed` is refused';
  const fallbacks = Array.isArray(json.fallbacks) ? json.fallbacks : [];
  if (fallbacks.some((fallback) => field(fallback, 'speed') !== undefined)) {
    return '`speed` of a fallback is refused';
  }
  if (json.max_tokens === 0) return '`max_tokens: 0` is refused';
  // The state of a conversation would have to be there before the next call, not a day later.
  if (json.thread !== undefined) return 'a `thread` is refused';
  return undefined;
}
