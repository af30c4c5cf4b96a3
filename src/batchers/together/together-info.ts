import { openaiInfo } from '../openai/openai-info.ts';
import type { ProviderInfo } from '../provider-info.ts';

/**
 * What is known of Together AI.
 *
 * @example
 * const mine: ProviderInfo = { ...togetherInfo, name: 'mine', hosts: ['llm.example.com'] };
 */
export const togetherInfo: ProviderInfo<'together'> = {
  ...openaiInfo,
  name: 'together',
  hosts: ['api.together.ai', 'api.together.xyz'],
  endpoints: ['/chat/completions'],
  // Transcriptions and translations can be batched, but their lines name files, which no call carries.
  unbatched: [
    '/completions',
    '/embeddings',
    '/rerank',
    '/images/generations',
    '/audio/speech',
    '/audio/transcriptions',
    '/audio/translations',
  ],
  accountHeaders: [],
  environment: ['TOGETHER_API_KEY'],
  baseUrlVariables: [
    {
      name: 'TOGETHER_BASE_URL',
      usual: 'https://api.together.ai/v1',
      readBy: 'Python, JavaScript',
    },
  ],
  packages: ['together-ai'],
};
