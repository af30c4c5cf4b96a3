import { openaiInfo } from '../openai/openai-info.ts';
import type { ProviderInfo } from '../provider-info.ts';

/** What is known of SiliconFlow. */
export const siliconflowInfo: ProviderInfo = {
  ...openaiInfo,
  name: 'siliconflow',
  hosts: ['api.siliconflow.cn'],
  roots: ['/v1'],
  endpoints: ['/chat/completions'],
  unbatched: [
    '/completions',
    '/embeddings',
    '/rerank',
    '/images/generations',
    '/audio/speech',
    '/audio/transcriptions',
  ],
  accountHeaders: [],
  environment: ['SILICONFLOW_API_KEY'],
};
