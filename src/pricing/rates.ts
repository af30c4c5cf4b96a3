/** Dollars for one token of each kind, and for one search. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheReadAudio: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  readonly inputAudio: number;
  readonly inputImage: number;
  readonly outputAudio: number;
  readonly outputImage: number;
  readonly webSearch: number;
}

/** The rates of a model. Where some are higher for long input, the whole request is paid at them. */
export interface ModelRates {
  readonly base: Rates;
  /** In ascending order; each holds for requests with more input tokens than `start`. */
  readonly tiers: readonly { readonly start: number; readonly rates: Rates }[];
}

/** A cache write that lasts an hour costs this many times one that lasts minutes: 2 to 1.25. */
const hourOverMinutes = 1.6;

/**
 * The rates of a model of which some may not be known: such a kind is paid for as what it is a kind of,
 * a cached token as any token of input, a spoken one as a written one.
 */
export function completeRates(given: Partial<Rates>): Rates {
  const { input = 0, output = 0, cacheWrite } = given;
  const { cacheRead = input, inputAudio = input } = given;
  return {
    input,
    output,
    cacheRead,
    cacheReadAudio: given.cacheReadAudio ?? given.cacheRead ?? inputAudio,
    cacheWrite: cacheWrite ?? input,
    cacheWrite1h:
      given.cacheWrite1h ?? (cacheWrite === undefined ? input : cacheWrite * hourOverMinutes),
    inputAudio,
    inputImage: given.inputImage ?? input,
    outputAudio: given.outputAudio ?? output,
    outputImage: given.outputImage ?? output,
    webSearch: given.webSearch ?? 0,
  };
}

export function ratesFor({ base, tiers }: ModelRates, inputTokens: number): Rates {
  let rates = base;
  for (const tier of tiers) if (inputTokens > tier.start) rates = tier.rates;
  return rates;
}
