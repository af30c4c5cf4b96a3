import { isObject } from '../../server/json.ts';

/**
 * Which calls find no room in a flex tier: none, all, a share of them by a seeded sequence, the first ones since
 * the setting was made, or those within a stretch of the simulator's time.
 *
 * @example
 * ```ts
 * const full: FullTier = { share: 1 / 3 };
 * const tonight: FullTier = { until: clock.now() + 3_600_000 };
 * ```
 */
export type FullTier =
  | 'never'
  | 'always'
  | { readonly share: number }
  | { readonly first: number }
  | { readonly from?: number; readonly until: number };

/**
 * How the flex tier of one provider behaves. What is left out is as at a provider that has room and says so.
 *
 * @example
 * ```ts
 * simulator.configure({
 *   flex: { openai: { full: { first: 3 }, noRoom: 'rate_limit_exceeded', retryAfterSeconds: 2 } },
 * });
 * ```
 */
export interface FlexTier {
  /** Who finds no room. Default `never`. */
  full?: FullTier;
  /**
   * The shape of that refusal, by the name in the documentation of the simulator: `resource_unavailable`.
   * Default: those of the provider take turns.
   */
  noRoom?: string;
  /** What the `retry-after` header of that refusal says. Default: there is none. */
  retryAfterSeconds?: number;
  /** A call is executed and answered only so many milliseconds later. Default 0. */
  delay?: number;
  /** Models that are not sold in this tier. */
  refusedModels?: readonly string[];
  /** The project does not allow the tier. */
  forbidden?: boolean;
  /** The tier that serves the calls in fact, and that is billed: `standard`. Default `flex`. */
  servedAs?: string;
  /** Whether the answer names the tier that served it. Default true. */
  echoed?: boolean;
}

const kinds: Record<keyof FlexTier, (value: unknown) => boolean> = {
  full: isFullTier,
  noRoom: isText,
  retryAfterSeconds: isAmount,
  delay: isAmount,
  refusedModels: (value) => Array.isArray(value) && value.every(isText),
  forbidden: (value) => typeof value === 'boolean',
  servedAs: isText,
  echoed: (value) => typeof value === 'boolean',
};

export function checkFlexTier(name: string, tier: object): void {
  for (const [key, value] of Object.entries(tier)) {
    if (!(key in kinds)) throw new TypeError(`Unknown simulator setting '${name}.${key}'`);
    if (value === undefined || kinds[key as keyof FlexTier](value)) continue;
    const given = JSON.stringify(value);
    throw new TypeError(`Simulator setting '${name}.${key}' cannot be ${given}`);
  }
}

function isFullTier(value: unknown): boolean {
  if (!isObject(value)) return value === 'never' || value === 'always';
  const { share, first, from = 0, until, ...others } = value;
  const named = [share, first, until].filter((one) => one !== undefined);
  return named.length === 1 && [...named, from].every(isAmount) && Object.keys(others).length === 0;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isAmount(value: unknown): boolean {
  return typeof value === 'number' && value >= 0;
}
