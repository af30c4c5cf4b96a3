/**
 * What one answer took, in one shape for all providers. The kinds below `inputTokens` and
 * `outputTokens` are parts of these two: a kind that an answer does not name is missing, or 0.
 *
 * @example
 * const usage: Usage = { inputTokens: 1_200, cacheReadTokens: 1_000, outputTokens: 80 };
 */
export interface Usage {
  /** All input, whether it was cached or not. */
  readonly inputTokens: number;
  /** All output, thoughts included. */
  readonly outputTokens: number;
  /** Input that came out of the provider's cache. */
  readonly cacheReadTokens?: number;
  /** Input that was written to the provider's cache, without what stays there for an hour. */
  readonly cacheWriteTokens?: number;
  readonly cacheWrite1hTokens?: number;
  readonly inputAudioTokens?: number;
  /** The part of `inputAudioTokens` that came out of the cache. */
  readonly cacheReadAudioTokens?: number;
  readonly inputImageTokens?: number;
  readonly outputAudioTokens?: number;
  readonly outputImageTokens?: number;
  /** Searches on the web, which are paid for one by one. */
  readonly webSearches?: number;
  /** How many answers a request with `n` got, if not one. */
  readonly answers?: number;
  /** What tokens cost of the list price, where the answer says that it is another: 1.1. */
  readonly priceFactor?: number;
  /** Dollars, where the provider says what it has billed. */
  readonly billed?: number;
}

/** An input that is smaller than its cached part does not contain it: then it is added. */
export function includingCache(usage: Usage): Usage {
  const { inputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, cacheWrite1hTokens = 0 } = usage;
  const cached = cacheReadTokens + cacheWriteTokens + cacheWrite1hTokens;
  return cached > inputTokens ? { ...usage, inputTokens: inputTokens + cached } : usage;
}
