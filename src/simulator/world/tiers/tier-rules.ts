import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../../server/json.ts';
import type { Refused } from '../batches/batch.ts';

/** A call that stands in no batch. */
export interface OrdinaryCall {
  readonly account: string;
  readonly endpoint: string;
  readonly body: JsonObject;
  readonly headers: IncomingHttpHeaders;
}

/** The meter's word for what a call costs that asks for no tier. */
export const standardTier = 'standard';
export const flexTier = 'flex';

/** An answer that tells its tier. */
export interface Told {
  body: JsonObject;
  headers?: Record<string, string>;
}

/** How calls ask one provider for a service tier, and what it says about it. */
export interface TierRules {
  /** The tier that a call asks for, or why it is refused. */
  wanted(call: OrdinaryCall): string | Refused;
  /** By name: what calls get that find no room. */
  readonly noRoom: Readonly<Record<string, Refused>>;
  refusedModel(model: string): Refused;
  readonly forbidden: Refused;
  /** The answer with the tier that served it; null: it is not told. */
  tell(answer: JsonObject, tier: string | null): Told;
}
