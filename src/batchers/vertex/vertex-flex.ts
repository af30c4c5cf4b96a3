import type { FlexTier } from '../flex-tier.ts';
import { usageField } from '../google/google-flex.ts';

/** Vertex AI ends a call after half an hour at the latest. */
const patience = 30 * 60_000;

/**
 * The flex tier of Gemini on Vertex AI: two headers ask for it, and the second one alone would use up provisioned
 * throughput first. A body field has no effect, and a regional endpoint ignores the headers.
 */
export const vertexFlex: FlexTier = {
  priceShare: 0.5,
  cachedInput: 'undiscounted',
  patience,
  headers: {
    'x-vertex-ai-llm-request-type': 'shared',
    'x-vertex-ai-llm-shared-request-type': 'flex',
  },
  ask: (body) => body,
  leaveOut: (body) => body,
  hasServed: (answer) => usageField(answer, 'trafficType') === 'ON_DEMAND_FLEX',
  isRefused: ({ status, body }) =>
    status === 400 && /request[ _-]type|service[ _]?tier|\bflex\b/i.test(body),
  isFull: ({ status }) => status === 429,
};
