import type { Refused } from '../world/batches/batch.ts';
import { flexTier, standardTier, type TierRules } from '../world/tiers/tier-rules.ts';

/** Words of `service_tier` that mean the ordinary tier of a project. */
const standardWords = ['auto', 'default'];
const words = [...standardWords, flexTier, 'scale', 'priority', 'fast', 'ultrafast'];

/** Endpoints that have tiers. */
const endpoints = ['/v1/chat/completions', '/v1/responses'];

/** OpenAI's tiers: the body asks for one, and the answer names the one that served it. */
export const openaiTiers: TierRules = {
  wanted: ({ endpoint, body }) => tierNamed(endpoint, body.service_tier),
  noRoom: {
    resource_unavailable: {
      kind: 'refused',
      status: 429,
      message: 'Flex does not have sufficient resources available to fulfill your request.',
      type: 'resource_unavailable',
      code: 'resource_unavailable',
    },
    rate_limit_exceeded: {
      kind: 'refused',
      status: 429,
      message: "We're currently processing too many requests. Please try again later.",
      type: 'requests',
      code: 'rate_limit_exceeded',
    },
  },
  refusedModel: (model) =>
    refusedTier(`Invalid service_tier argument: not available for ${model}.`),
  forbidden: refusedTier('Invalid service_tier argument: the project does not allow this tier.'),
  tell(answer, tier) {
    const { service_tier: _usual, ...body } = answer;
    if (tier === null) return { body };
    return { body: { ...body, service_tier: tier === standardTier ? 'default' : tier } };
  },
};

export function tierNamed(endpoint: string, word: unknown): string | Refused {
  if (!endpoints.includes(endpoint)) return standardTier;
  if (word === undefined || word === null) return standardTier;
  if (typeof word !== 'string' || !words.includes(word)) {
    return refusedTier(`Invalid service_tier argument: ${JSON.stringify(word)}.`);
  }
  return standardWords.includes(word) ? standardTier : word;
}

function refusedTier(message: string): Refused {
  const type = 'invalid_request_error';
  return { kind: 'refused', status: 400, message, type, param: 'service_tier' };
}
