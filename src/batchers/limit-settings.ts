import { isObject } from '../base/json.ts';
import type { GivenPrice } from '../pricing/model-price.ts';
import type { Batcher, Limits, RouteKey } from './batcher.ts';
import type { Setting, Settings } from './provider-info.ts';
import { wildcards } from './wildcards.ts';

/** The limits that a user can set, by the words of the option. */
const limitWords = {
  requests: 'items',
  leastRequests: 'leastItems',
  bytes: 'bytes',
  requestBytes: 'itemBytes',
  tokens: 'tokens',
  inFlight: 'inFlight',
} as const satisfies Record<string, keyof Limits>;

type GivenLimits = { readonly [Word in keyof typeof limitWords]?: number };
/** One for all models, or by model, `*` for any text in it. */
type GivenShares = number | Readonly<Record<string, number>>;

/** Dollars per million tokens by model, `*` for any text in it; the first pattern that fits wins. */
type GivenPrices = Readonly<Record<string, GivenPrice>>;

/** Limits and prices of providers change, and some are agreed on: every provider has these settings. */
export const limitSettings = {
  limits: {
    help: 'limits of your account, where they are not those that batchling knows',
    allowed: `an object of whole numbers: ${Object.keys(limitWords).join(', ')}`,
    parse: parseLimits,
  } satisfies Setting<GivenLimits>,
  priceShare: {
    help: 'what batches cost you, as a share of the list price',
    allowed: 'a number from 0 to 1, or an object of such numbers by model',
    parse: parseShares,
  } satisfies Setting<GivenShares>,
  prices: {
    help: 'list prices in dollars per million tokens, by model; the first pattern that fits wins',
    allowed:
      'an object by model of { input, output, cacheRead, cacheWrite, cacheWrite1h } in dollars, ' +
      "{ 'model-*': { input: 1.25, output: 10 } }; all but input may be left out",
    parse: parsePrices,
  } satisfies Setting<GivenPrices>,
};

function parseLimits(value: unknown): GivenLimits | undefined {
  const isLimit = ([word, limit]: [string, unknown]) =>
    Object.hasOwn(limitWords, word) && Number.isInteger(limit) && (limit as number) > 0;
  return isObject(value) && Object.entries(value).every(isLimit) ? value : undefined;
}

function parseShares(value: unknown): GivenShares | undefined {
  if (isShare(value)) return value;
  return isObject(value) && Object.values(value).every(isShare)
    ? (value as GivenShares)
    : undefined;
}

function parsePrices(value: unknown): GivenPrices | undefined {
  return isObject(value) && Object.values(value).every(isPrice)
    ? (value as GivenPrices)
    : undefined;
}

/** All but `input` may be left out: embeddings have no output, and many models no other price for cached input. */
function isPrice(value: unknown): boolean {
  if (!isObject(value)) return false;
  const isKind = ([kind, dollars]: [string, unknown]) => kinds.has(kind) && isDollars(dollars);
  return 'input' in value && Object.entries(value).every(isKind);
}

const kinds: ReadonlySet<string> = new Set<keyof GivenPrice>([
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
]);

function isDollars(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY;
}

function isShare(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1;
}

/** What holds for batches that go this way, with what the user knows better. */
export function limitsOf(batcher: Batcher, route: RouteKey, settings: Settings): Limits {
  const known = batcher.limits(route);
  const given = (settings.limits ?? {}) as GivenLimits;
  const share = shareOf(settings.priceShare as GivenShares | undefined, route.model);
  const limits: { -readonly [Name in keyof Limits]: Limits[Name] } = { ...known };
  for (const word in given) {
    const name = word as keyof GivenLimits;
    limits[limitWords[name]] = given[name] as number;
  }
  if (share !== undefined) limits.windows = withShare(known.windows, share);
  return limits;
}

/** The price that the user gives for this model. */
export function givenPrice(settings: Settings, model: string): GivenPrice | undefined {
  return firstFitting(settings.prices as GivenPrices | undefined, model);
}

function shareOf(given: GivenShares | undefined, model: string): number | undefined {
  return typeof given === 'object' ? firstFitting(given, model) : given;
}

function firstFitting<Value>(
  given: Readonly<Record<string, Value>> | undefined,
  model: string,
): Value | undefined {
  for (const pattern in given) if (wildcards([pattern], '')(model)) return given[pattern];
  return undefined;
}

function withShare(windows: Limits['windows'], priceShare: number): Limits['windows'] {
  return Object.fromEntries(
    Object.entries(windows).map(([duration, window]) => [duration, { ...window, priceShare }]),
  );
}
