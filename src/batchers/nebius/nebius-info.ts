import { openaiInfo } from '../openai/openai-info.ts';
import type { ProviderInfo } from '../provider-info.ts';

/** What is known of Nebius Token Factory. */
export const nebiusInfo: ProviderInfo = {
  ...openaiInfo,
  name: 'nebius',
  hosts: ['api.tokenfactory.nebius.com', 'api.studio.nebius.com'],
  roots: ['/v1'],
  endpoints: ['/chat/completions', '/embeddings'],
  unbatched: ['/completions', '/images/generations'],
  accountHeaders: [],
  environment: ['NEBIUS_API_KEY'],
};
