import { sampleChat } from '../openai/openai-info.ts';
import type { ProviderInfo } from '../provider-info.ts';

/** What is known of OpenRouter. */
export const openrouterInfo: ProviderInfo<'openrouter'> = {
  name: 'openrouter',
  hosts: ['openrouter.ai', 'eu.openrouter.ai'],
  roots: ['/api/v1'],
  versions: ['/v1'],
  endpoints: ['/chat/completions', '/responses', '/messages', '/embeddings'],
  unbatched: ['/completions', '/rerank', '/audio/speech', '/audio/transcriptions', '/videos'],
  credentialHeaders: ['authorization', 'x-api-key'],
  accountHeaders: [],
  environment: ['OPENROUTER_API_KEY'],
  requestIdHeader: 'x-request-id',
  // There is no way to cancel at all, and a batch that ends early may show no results.
  cancelLosesWork: true,
  exactlyFindable: false,
  sampleCall: sampleChat,
  sampleModels: { 'openrouter.ai': 'openai/gpt-4o-mini' },
};
