import { openaiInfo } from '../openai/openai-info.ts';
import type { ProviderInfo } from '../provider-info.ts';

/** What is known of DeepInfra. */
export const deepinfraInfo: ProviderInfo = {
  ...openaiInfo,
  name: 'deepinfra',
  hosts: ['api.deepinfra.com'],
  roots: ['/v1/openai'],
  versions: ['/openai'],
  endpoints: ['/chat/completions', '/completions', '/embeddings'],
  unbatched: [
    '/images/generations',
    '/audio/speech',
    '/audio/transcriptions',
    '/audio/translations',
  ],
  accountHeaders: [],
  environment: ['DEEPINFRA_API_KEY', 'DEEPINFRA_TOKEN'],
};
