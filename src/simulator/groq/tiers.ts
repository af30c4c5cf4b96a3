import { openaiTiers } from '../openai-like/tiers.ts';
import type { TierRules } from '../world/tiers/tier-rules.ts';

/** Groq's flex costs the full price; a status of its own says that there is no room. */
export const groqTiers: TierRules = {
  ...openaiTiers,
  noRoom: {
    capacity_exceeded: {
      kind: 'refused',
      status: 498,
      message: 'Flex tier capacity exceeded. Please try again later.',
      type: 'capacity_exceeded',
      code: 'capacity_exceeded',
    },
  },
};
