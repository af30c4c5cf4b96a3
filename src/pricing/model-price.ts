import { arePricesLoaded, listedRates, type PricedProvider } from './price-list.ts';
import { completeRates, type ModelRates, type Rates, ratesFor } from './rates.ts';
import type { Usage } from './usage.ts';

/** Dollars per million tokens, as the user says. */
export interface GivenPrice {
  readonly input: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly cacheWrite1h?: number;
}

/**
 * What a batch does to the price of input that came out of the provider's cache.
 *
 * @example
 * const limits = { ...super.limits(route), cachedInput: 'uncached' as const };
 */
export type CachedInput =
  /** It is discounted like everything else. */
  | 'discounted'
  /** It costs what it costs in an ordinary call. */
  | 'undiscounted'
  /** It is paid for as if nothing had been cached. */
  | 'uncached';

/** The share of the list price that something costs. */
export interface Terms {
  readonly priceShare: number;
  readonly cachedInput?: CachedInput | undefined;
}

/** Dollars. What was saved is what the same answer to an ordinary call costs beyond what was paid. */
export interface Charge {
  readonly paid: number;
  readonly saved: number;
}

const million = 1_000_000;
const day = 86_400_000;
const ordinary: Terms = { priceShare: 1 };

/** What one model costs. The list is asked once a day; an answer is multiplied and added up. */
export class ModelPrice {
  readonly #provider: PricedProvider;
  readonly #model: string;
  readonly #given: ModelRates | undefined;
  #listed: ModelRates | undefined;
  #listedOn = -1;

  constructor(provider: PricedProvider, model: string, given?: GivenPrice) {
    this.#provider = provider;
    this.#model = model;
    this.#given = given && { base: givenRates(given), tiers: [] };
  }

  /**
   * What an answer costs on these terms, or as an ordinary call; `undefined` where no price is known, or
   * the list is not loaded.
   */
  charge(usage: Usage, terms: Terms = ordinary): Charge | undefined {
    const { billed } = usage;
    const rates = this.#rates();
    if (rates === undefined) return billed === undefined ? undefined : { paid: billed, saved: 0 };
    const lengthRates = ratesFor(rates, usage.inputTokens);
    const list = dollarsOf(usage, lengthRates, ordinary);
    if (terms === ordinary) return { paid: billed ?? list, saved: 0 };
    const paid = billed ?? dollarsOf(usage, lengthRates, terms);
    return { paid, saved: list - paid };
  }

  #rates(): ModelRates | undefined {
    if (this.#given) return this.#given;
    const now = Date.now();
    const today = Math.floor(now / day);
    if (today !== this.#listedOn && arePricesLoaded()) {
      this.#listed = listedRates(this.#provider, this.#model, now);
      this.#listedOn = today;
    }
    return this.#listed;
  }
}

function givenRates(given: GivenPrice): Rates {
  const perToken = Object.entries(given).map(([kind, dollars]) => [kind, dollars / million]);
  return completeRates(Object.fromEntries(perToken) as Partial<Rates>);
}

function dollarsOf(usage: Usage, rates: Rates, { priceShare, cachedInput }: Terms): number {
  const { inputTokens, outputTokens, cacheWriteTokens = 0, cacheWrite1hTokens = 0 } = usage;
  const { inputAudioTokens = 0, outputAudioTokens = 0, outputImageTokens = 0 } = usage;
  const isCached = cachedInput !== 'uncached';
  const read = isCached ? (usage.cacheReadTokens ?? 0) : 0;
  const readAudio = isCached ? (usage.cacheReadAudioTokens ?? 0) : 0;
  const audio = inputAudioTokens - readAudio;
  const special = read + cacheWriteTokens + cacheWrite1hTokens + audio;
  const rest = Math.max(0, inputTokens - special);
  // An image that came out of the cache is among what was read.
  const image = Math.min(usage.inputImageTokens ?? 0, rest);
  const full =
    (rest - image) * rates.input +
    audio * rates.inputAudio +
    image * rates.inputImage +
    cacheWriteTokens * rates.cacheWrite +
    cacheWrite1hTokens * rates.cacheWrite1h +
    Math.max(0, outputTokens - outputAudioTokens - outputImageTokens) * rates.output +
    outputAudioTokens * rates.outputAudio +
    outputImageTokens * rates.outputImage;
  const cached = (read - readAudio) * rates.cacheRead + readAudio * rates.cacheReadAudio;
  const cachedShare = cachedInput === 'undiscounted' ? 1 : priceShare;
  const tokens = full * priceShare + cached * cachedShare;
  // Searches have no discount in any batch.
  return tokens * (usage.priceFactor ?? 1) + (usage.webSearches ?? 0) * rates.webSearch;
}
