import type { Call } from '../batcher.ts';

/** Values that leave the tier to the account or to the provider. */
const unchosen = new Set<unknown>([
  undefined,
  null,
  'auto',
  'default',
  'standard',
  'standard_only',
  'unspecified',
]);

/**
 * The tier that a call asks for itself; `undefined`: it leaves that to others. In the realtime lane it goes out as it
 * came, whatever it asks for.
 */
export function ownTier({ lane }: Pick<Call, 'lane'>, asked: unknown): string | undefined {
  return lane === 'realtime' || unchosen.has(asked) ? undefined : String(asked);
}

/** Why a call with this tier goes out by itself. Flex costs what a batch costs, and is no reason. */
export function tierBypass(tier: string | undefined): string | undefined {
  if (tier === undefined || tier === 'flex') return undefined;
  return `it asks for the tier ${JSON.stringify(tier)} itself, and batches have no tiers`;
}

/**
 * Whether the tier is left out of the line, where nobody knows its effect. In the flex lane it is set again as the call
 * goes out, or not where it goes out at full price after all. A server of the user's may have no batches, and then gets
 * the call as it came.
 */
export function isLeftOut({ lane, isConfigured }: Call, tier: string | undefined): boolean {
  return tier !== undefined && (lane === 'flex' || !isConfigured);
}
