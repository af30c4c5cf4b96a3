import { isObject, type JsonObject } from '../server/json.ts';
import type { Refused } from '../world/batches/batch.ts';
import { standardTier, type TierRules } from '../world/tiers/tier-rules.ts';

const words = ['unspecified', 'standard', 'flex', 'priority'];

/** Gemini's tiers: the body asks for one in lower case, a header and the usage of the answer name the one that served. */
export const geminiTiers: TierRules = {
  wanted({ endpoint, body }) {
    const word = body.serviceTier ?? body.service_tier;
    if (word === undefined || !endpoint.endsWith(':generateContent')) return standardTier;
    if (typeof word !== 'string' || !words.includes(word)) {
      const type = 'type.googleapis.com/google.ai.generativelanguage.v1beta.ServiceTier';
      return refused(400, `Invalid value at 'service_tier' (${type}), ${JSON.stringify(word)}`);
    }
    return word === 'unspecified' ? standardTier : word;
  },
  noRoom: {
    unavailable: refused(503, 'This model is currently experiencing high demand.'),
    resource_exhausted: refused(429, 'Resource has been exhausted (e.g. check quota).'),
  },
  refusedModel: (model) => refused(400, `The service tier is not supported by models/${model}.`),
  forbidden: refused(400, 'The service tier is not available for this project.'),
  tell(answer, tier) {
    if (tier === null) return { body: answer };
    const body = withUsage(answer, { serviceTier: tier });
    return { body, headers: { 'x-gemini-service-tier': tier } };
  },
};

/** An answer whose usage says this, too. One without a usage stays without. */
export function withUsage(answer: JsonObject, more: JsonObject): JsonObject {
  const { usageMetadata: usage } = answer;
  return isObject(usage) ? { ...answer, usageMetadata: { ...usage, ...more } } : answer;
}

function refused(status: number, message: string): Refused {
  return { kind: 'refused', status, message };
}
