import { geminiTiers, withUsage } from '../google/tiers.ts';
import { flexTier, standardTier, type TierRules } from '../world/tiers/tier-rules.ts';

const trafficTypes: Record<string, string> = {
  [standardTier]: 'ON_DEMAND',
  [flexTier]: 'ON_DEMAND_FLEX',
  priority: 'ON_DEMAND_PRIORITY',
};

/** Two headers ask for a tier, on the global endpoint only; a field of the body has no effect. */
export const vertexTiers: TierRules = {
  ...geminiTiers,
  wanted({ endpoint, headers }) {
    const { 'x-vertex-ai-llm-request-type': type } = headers;
    const { 'x-vertex-ai-llm-shared-request-type': shared } = headers;
    const isGlobal = !endpoint.includes('/locations/') || endpoint.includes('/locations/global/');
    const isAsked = type === 'shared' && (shared === flexTier || shared === 'priority');
    return isGlobal && isAsked ? String(shared) : standardTier;
  },
  noRoom: {
    resource_exhausted: {
      kind: 'refused',
      status: 429,
      message: 'Resource exhausted. Please try again later.',
    },
  },
  tell(answer, tier) {
    if (tier === null) return { body: answer };
    return { body: withUsage(answer, { trafficType: trafficTypes[tier] ?? tier }) };
  },
};
