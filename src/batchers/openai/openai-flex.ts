import { field, parseJson } from '../../base/json.ts';
import type { Answer } from '../../base/types.ts';
import type { FlexTier } from '../flex-tier.ts';
import { withMember, withoutMembers } from '../shared/json-text.ts';

/** OpenAI advises clients to wait so long for a flex answer. */
const patience = 15 * 60_000;

const flexEndpoints = new Set(['/v1/chat/completions', '/v1/responses', '/chat/completions']);

/** The flex tier of an endpoint of OpenAI; most have none. */
export function openaiFlex(endpoint: string): FlexTier | undefined {
  return flexEndpoints.has(endpoint) ? flex : undefined;
}

const tierName: ReadonlySet<string> = new Set(['service_tier']);

const flex: FlexTier = {
  priceShare: 0.5,
  patience,
  headers: {},
  ask: (body) => withMember(body, 'service_tier', '"flex"'),
  leaveOut: (body) =>
    field(parseJson(body), 'service_tier') === 'flex' ? withoutMembers(body, tierName) : body,
  hasServed: (answer) => field(jsonOf(answer), 'service_tier') === 'flex',
  isRefused: (answer) =>
    answer.status === 400 && field(field(jsonOf(answer), 'error'), 'param') === 'service_tier',
  // Two bodies are known, and one of them reads like a rate limit although the ordinary tier answers at once.
  isFull: ({ status }) => status === 429,
};

function jsonOf({ json, body }: Answer): unknown {
  return json ?? parseJson(body);
}
