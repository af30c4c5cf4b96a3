import { openaiInfo } from '../openai/openai-info.ts';
import type { ProviderInfo } from '../provider-info.ts';

/** What is known of Zhipu. */
export const zhipuInfo: ProviderInfo = {
  ...openaiInfo,
  name: 'zhipu',
  hosts: ['open.bigmodel.cn'],
  roots: ['/api/paas/v4'],
  versions: ['/v4'],
  endpoints: ['/chat/completions', '/embeddings'],
  unbatched: [
    '/images/generations',
    '/videos/generations',
    '/audio/speech',
    '/audio/transcriptions',
    '/rerank',
  ],
  accountHeaders: [],
  environment: ['ZHIPUAI_API_KEY', 'ZAI_API_KEY'],
};
