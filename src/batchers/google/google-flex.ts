import { field, fields, parseJson } from '../../base/json.ts';
import type { Answer } from '../../base/types.ts';
import type { FlexTier } from '../flex-tier.ts';
import { withMember, withoutMembers } from '../shared/json-text.ts';
import { cachedInputOf } from './google-usage.ts';

/** Gemini answers flex calls within 1 to 15 minutes. It is asked to keep them so long, and needs a moment to say no. */
const serverSeconds = 900;
const patience = (serverSeconds + 60) * 1_000;

/** The body may write the name in two ways. */
export const tierNames: ReadonlySet<string> = new Set(['serviceTier', 'service_tier']);

/** The flex tier of the Gemini API. In an answer a header names the tier, and so does the usage. */
export function googleFlex(model: string): FlexTier {
  return {
    priceShare: 0.5,
    cachedInput: cachedInputOf(model),
    patience,
    headers: { 'x-server-timeout': String(serverSeconds) },
    // Lower case only: "FLEX" is refused.
    ask: (body) => withMember(withoutMembers(body, tierNames), 'serviceTier', '"flex"'),
    leaveOut(body) {
      const { serviceTier, service_tier } = fields(parseJson(body));
      return (serviceTier ?? service_tier) === 'flex' ? withoutMembers(body, tierNames) : body;
    },
    hasServed: (answer) =>
      [answer.headers['x-gemini-service-tier'], usageField(answer, 'serviceTier')].some(
        (tier) => typeof tier === 'string' && tier.toLowerCase() === 'flex',
      ),
    isRefused: ({ status, body }) => status === 400 && /service[ _]?tier/i.test(body),
    isFull: ({ status }) => status === 429 || status === 503,
  };
}

/** A field of what an answer says about its usage. */
export function usageField({ json, body }: Answer, name: string): unknown {
  return field(field(json ?? parseJson(body), 'usageMetadata'), name);
}
