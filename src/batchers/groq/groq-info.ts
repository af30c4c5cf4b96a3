import { openaiInfo } from '../openai/openai-info.ts';
import type { ProviderInfo } from '../provider-info.ts';

/** What is known of Groq. */
export const groqInfo: ProviderInfo<'groq'> = {
  ...openaiInfo,
  name: 'groq',
  hosts: ['api.groq.com'],
  roots: ['/openai/v1'],
  endpoints: ['/chat/completions'],
  unbatched: [
    '/responses',
    '/embeddings',
    '/audio/speech',
    '/audio/transcriptions',
    '/audio/translations',
  ],
  accountHeaders: [],
  environment: ['GROQ_API_KEY'],
  baseUrlVariables: [
    {
      name: 'GROQ_BASE_URL',
      usual: 'https://api.groq.com',
      readBy: 'Python, JavaScript',
    },
  ],
  packages: ['groq-sdk'],
  sampleModels: { 'api.groq.com': 'llama-3.1-8b-instant' },
};
