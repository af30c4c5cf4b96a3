import type { ProviderInfo } from '../provider-info.ts';

/**
 * What is known of OpenAI, to be spread and changed by services that copy it.
 *
 * @example
 * const mine: ProviderInfo = { ...openaiInfo, name: 'mine', hosts: ['llm.example.com'] };
 */
export const openaiInfo: ProviderInfo<'openai'> = {
  name: 'openai',
  hosts: ['api.openai.com'],
  roots: ['/v1'],
  versions: ['/v1'],
  endpoints: [
    '/chat/completions',
    '/responses',
    '/embeddings',
    '/completions',
    '/moderations',
    '/images/generations',
    '/images/edits',
  ],
  unbatched: [
    '/images/variations',
    '/audio/speech',
    '/audio/transcriptions',
    '/audio/translations',
    '/videos',
  ],
  credentialHeaders: ['authorization'],
  accountHeaders: ['openai-organization', 'openai-project'],
  accountEnvironment: {
    'openai-organization': 'OPENAI_ORG_ID',
    'openai-project': 'OPENAI_PROJECT_ID',
  },
  environment: ['OPENAI_API_KEY'],
  requestIdHeader: 'x-request-id',
  exactlyFindable: true,
};
