import { openaiTiers, tierNamed } from '../openai-like/tiers.ts';
import type { TierRules } from '../world/tiers/tier-rules.ts';

/** A header may ask for a tier, too; the body has the last word. */
export const azureTiers: TierRules = {
  ...openaiTiers,
  wanted({ endpoint, body, headers }) {
    const { 'x-ms-service-tier': header } = headers;
    // In the header, other than in the body, `auto` is the dear tier.
    const named = body.service_tier ?? (header === 'auto' ? 'priority' : header);
    return tierNamed(endpoint, named);
  },
  noRoom: {
    no_capacity: {
      kind: 'refused',
      status: 429,
      message: 'The system is currently experiencing high demand and cannot process your request.',
      code: 'no_capacity',
    },
    rate_limit: {
      kind: 'refused',
      status: 429,
      message: 'Requests to this deployment have exceeded its call rate limit. Please retry later.',
      code: '429',
    },
  },
};
