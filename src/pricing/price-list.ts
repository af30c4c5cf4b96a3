import type { calcPrice, ModelPrice, TieredPrices } from '@pydantic/genai-prices';
import { completeRates, type ModelRates, type Rates } from './rates.ts';

/** A provider whose prices are asked for. */
export interface PricedProvider {
  readonly name: string;
  /** What the list calls it, where that is another name. */
  readonly priceListName?: string;
}

/** The list's name of each rate, and how many tokens or searches it stands for. */
const listed: { readonly [Kind in keyof Rates]: readonly [key: string, per: number] } = {
  input: ['input_mtok', 1_000_000],
  output: ['output_mtok', 1_000_000],
  cacheRead: ['cache_read_mtok', 1_000_000],
  cacheReadAudio: ['cache_audio_read_mtok', 1_000_000],
  cacheWrite: ['cache_write_mtok', 1_000_000],
  cacheWrite1h: ['cache_write_1h_mtok', 1_000_000],
  inputAudio: ['input_audio_mtok', 1_000_000],
  inputImage: ['input_image_mtok', 1_000_000],
  outputAudio: ['output_audio_mtok', 1_000_000],
  outputImage: ['output_image_mtok', 1_000_000],
  webSearch: ['web_searches_kcount', 1_000],
};

let calculate: typeof calcPrice | undefined;

/** Loads the price table. It is large, so this is done with the first batch. */
export async function loadPrices(): Promise<void> {
  calculate ??= (await import('@pydantic/genai-prices')).calcPrice;
}

export function arePricesLoaded(): boolean {
  return calculate !== undefined;
}

/**
 * The listed rates of a model at a time; `undefined` where the list does not know it, or prices it by
 * something else than tokens: pages, hours.
 */
export function listedRates(
  provider: PricedProvider,
  model: string,
  at: number,
): ModelRates | undefined {
  const price = listedPrice(provider, model, at);
  if (price === undefined) return undefined;
  // A model that costs nothing has an empty entry.
  if (price.input_mtok === undefined && Object.keys(price).length > 0) return undefined;
  const starts = new Set<number>();
  for (const value of Object.values(price)) {
    if (isTiered(value)) for (const { start } of value.tiers) starts.add(start);
  }
  const ascending = [...starts].sort((one, other) => one - other);
  return {
    base: ratesOf(price, 0),
    tiers: ascending.map((start) => ({ start, rates: ratesOf(price, start + 1) })),
  };
}

/** The list also finds providers by a part of their name: such a guess is not taken. */
function listedPrice(
  { name, priceListName: providerId = name }: PricedProvider,
  model: string,
  at: number,
): ModelPrice | undefined {
  try {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const found = calculate?.(usage, model, { providerId, timestamp: new Date(at) });
    return found?.provider.id === providerId ? found.model_price : undefined;
  } catch {
    // An entry of the list that it cannot use itself.
    return undefined;
  }
}

function ratesOf(price: ModelPrice, inputTokens: number): Rates {
  const rates: { -readonly [Kind in keyof Rates]?: number } = {};
  for (const name in listed) {
    const kind = name as keyof Rates;
    const [key, per] = listed[kind];
    const value = price[key];
    if (value !== undefined) rates[kind] = amountOf(value, inputTokens) / per;
  }
  return completeRates(rates);
}

function amountOf(value: number | TieredPrices, inputTokens: number): number {
  if (!isTiered(value)) return value;
  let amount = value.base;
  let above = -1;
  for (const { start, price } of value.tiers) {
    if (inputTokens <= start || start < above) continue;
    amount = price;
    above = start;
  }
  return amount;
}

function isTiered(value: number | TieredPrices | undefined): value is TieredPrices {
  return typeof value === 'object';
}
