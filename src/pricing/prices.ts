import type { PriceCalculationResult } from '@pydantic/genai-prices';

interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
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

let calculate: CalculatePrice | undefined;
const flatPrices = new Map<string, FlatPrice | undefined>();

/** Loads the price table. It is large, so this is done with the first answers. */
export async function loadPrices(): Promise<void> {
  calculate ??= (await import('@pydantic/genai-prices')).calcPrice;
}

/**
 * The list price of a request in dollars; `undefined` where no price is known. Each request is priced
 * by itself: some models have another price for long ones.
 */
export function priceOf(provider: string, model: string, usage: TokenUsage): number | undefined {
  if (calculate === undefined) return undefined;
  const key = `${provider}:${model}`;
  if (!flatPrices.has(key)) flatPrices.set(key, flatPrice(calculate, provider, model));
  const flat = flatPrices.get(key);
  if (flat) return usage.inputTokens * flat.input + usage.outputTokens * flat.output;
  const tokens = { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens };
  return calculate(tokens, model, { providerId: provider })?.total_price;
}

function flatPrice(
  calculatePrice: CalculatePrice,
  provider: string,
  model: string,
): FlatPrice | undefined {
  const options = { providerId: provider };
  const found = calculatePrice({ input_tokens: 1, output_tokens: 1 }, model, options);
  const { input_mtok: input, output_mtok: output } = found?.model_price ?? {};
  if (typeof input !== 'number' || typeof output !== 'number') return undefined;
  return { input: input / 1_000_000, output: output / 1_000_000 };
}
