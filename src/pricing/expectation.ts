import type { Usage } from './usage.ts';

/**
 * What a request says of its own price before it is sent.
 *
 * @example
 * const expectation: Expectation = { outputLimit: 500, answers: 1 };
 */
export interface Expectation {
  /**
   * The most output tokens of all its answers together: 0 for embeddings, `undefined` where the request
   * names no limit.
   */
  readonly outputLimit: number | undefined;
  /** How many answers it asks for: `n`. */
  readonly answers: number;
  /** Estimated tokens that the provider may write to its cache; infinite: all of its input. */
  readonly cacheWriteTokens?: number;
  readonly cacheWrite1hTokens?: number;
  /** The part of it that its provider is asked to cache, where others may begin alike. */
  readonly cachePrefix?: CachePrefix;
  /** Estimated tokens of what is spoken in it. */
  readonly inputAudioTokens?: number;
}

/**
 * The beginning of a request up to its last mark for the provider's cache.
 *
 * @example
 * const prefix: CachePrefix = { key: 'Zm9vYmFy', tokens: 0, hourTokens: 11_000 };
 */
export interface CachePrefix {
  /** The same for all requests that begin with the very same text. */
  readonly key: string;
  /** Estimated tokens that are cached for some minutes. */
  readonly tokens: number;
  /** Estimated tokens that are cached for an hour. */
  readonly hourTokens: number;
}

/** The dearest usage that can be foreseen. Nothing is expected to be cached already. */
export function expectedUsage(
  inputTokens: number,
  { cacheWriteTokens = 0, cacheWrite1hTokens = 0, inputAudioTokens = 0 }: Expectation,
  outputTokens: number,
): Usage {
  const text = inputTokens - inputAudioTokens;
  const hour = Math.min(cacheWrite1hTokens, text);
  return {
    inputTokens,
    outputTokens,
    inputAudioTokens,
    cacheWrite1hTokens: hour,
    cacheWriteTokens: Math.min(cacheWriteTokens, text - hour),
  };
}
