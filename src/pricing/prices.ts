import type { PriceCalculationResult } from '@pydantic/genai-prices';
import { listName } from './price-lists.ts';

export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Dollars per million tokens, as the user says. */
export interface GivenPrice {
  readonly input: number;
  readonly output: number;
}

type CalculatePrice = (
  usage: { input_tokens: number; output_tokens: number },
  model: string,
  options: { providerId: string },
) => PriceCalculationResult;

/** Dollars per token, where a model's price does not depend on the size of a request. */
interface FlatPrice {
  readonly input: number;
  readonly output: number;
}

const million = 1_000_000;
let calculate: CalculatePrice | undefined;
const flatPrices = new Map<string, FlatPrice | undefined>();

/** Loads the price table. It is large, so this is done with the first batch. */
export async function loadPrices(): Promise<void> {
  calculate ??= (await import('@pydantic/genai-prices')).calcPrice;
}

/**
 * The list price of a request in dollars; `undefined` where no price is known. Each request is priced
 * by itself: some models have another price for long ones.
 */
export function priceOf(
  provider: string,
  model: string,
  usage: TokenUsage,
  given?: GivenPrice,
): number | undefined {
  const { inputTokens, outputTokens } = usage;
  if (given) return (inputTokens * given.input + outputTokens * given.output) / million;
  if (calculate === undefined) return undefined;
  const key = `${provider}:${model}`;
  if (!flatPrices.has(key)) flatPrices.set(key, flatPrice(calculate, provider, model));
  const flat = flatPrices.get(key);
  if (flat) return inputTokens * flat.input + outputTokens * flat.output;
  return listed(calculate, provider, model, usage)?.total_price;
}

function flatPrice(
  calculatePrice: CalculatePrice,
  provider: string,
  model: string,
): FlatPrice | undefined {
  const found = listed(calculatePrice, provider, model, { inputTokens: 1, outputTokens: 1 });
  // Embeddings have no price for output.
  const { input_mtok: input, output_mtok: output = 0 } = found?.model_price ?? {};
  if (typeof input !== 'number' || typeof output !== 'number') return undefined;
  return { input: input / million, output: output / million };
}

/** The list also finds providers by a part of their name: such a guess is not taken. */
function listed(
  calculatePrice: CalculatePrice,
  provider: string,
  model: string,
  { inputTokens, outputTokens }: TokenUsage,
): PriceCalculationResult {
  const providerId = listName(provider);
  const usage = { input_tokens: inputTokens, output_tokens: outputTokens };
  const found = calculatePrice(usage, model, { providerId });
  return found?.provider.id === providerId ? found : null;
}
