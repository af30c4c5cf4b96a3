import type { Execution } from '../meter.ts';

/**
 * What a model costs in a test: dollars per million tokens, and per search. What is left out costs as much as
 * ordinary input or output.
 *
 * @example
 * ```ts
 * const price: SimulatedPrice = {
 *   input: 1,
 *   output: 5,
 *   cacheRead: 0.1,
 *   cacheWrite: 1.25,
 *   shares: { batch: 0.5 },
 * };
 * ```
 */
export interface SimulatedPrice {
  input: number;
  output: number;
  cacheRead?: number;
  cacheWrite?: number;
  cacheWrite1h?: number;
  audioInput?: number;
  audioOutput?: number;
  /** Dollars of one search, in all tiers. Default 0. */
  webSearch?: number;
  /** By tier: the share of these prices that tokens cost there. A tier that is not named costs all. */
  shares?: Readonly<Record<string, number>>;
  /** The same for cache reads, where a provider has another rule for them. */
  cacheReadShares?: Readonly<Record<string, number>>;
  /** By `inference_geo`: the factor of all tokens. */
  geoFactors?: Readonly<Record<string, number>>;
}

/** What one execution would have cost in dollars. */
export function dollarsOf({ tier, usage }: Execution, price: SimulatedPrice): number {
  if (usage.billedTicks !== null) return usage.billedTicks / 1e10;
  const { input, output, cacheRead, cacheWrite, cacheWrite1h, audioInput, audioOutput } = usage;
  const { shares = {}, cacheReadShares = shares, geoFactors = {} } = price;
  const share = shares[tier] ?? 1;
  const plainInput = input - cacheRead - cacheWrite - cacheWrite1h - audioInput;
  const full =
    plainInput * price.input +
    cacheWrite * (price.cacheWrite ?? price.input) +
    cacheWrite1h * (price.cacheWrite1h ?? price.input) +
    audioInput * (price.audioInput ?? price.input) +
    (output - audioOutput) * price.output +
    audioOutput * (price.audioOutput ?? price.output);
  const read = cacheRead * (price.cacheRead ?? price.input) * (cacheReadShares[tier] ?? 1);
  const factor = geoFactors[usage.inferenceGeo ?? ''] ?? 1;
  return ((share * full + read) * factor) / 1e6 + usage.webSearches * (price.webSearch ?? 0);
}
