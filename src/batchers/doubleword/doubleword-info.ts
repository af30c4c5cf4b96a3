import { openaiInfo } from '../openai/openai-info.ts';
import type { ProviderInfo } from '../provider-info.ts';

/** What is known of Doubleword. */
export const doublewordInfo: ProviderInfo<'doubleword'> = {
  ...openaiInfo,
  name: 'doubleword',
  hosts: ['api.doubleword.ai'],
  endpoints: ['/chat/completions', '/completions', '/responses', '/embeddings'],
  unbatched: ['/messages', '/moderations', '/rerank', '/images/generations'],
  accountHeaders: [],
  environment: ['DOUBLEWORD_API_KEY'],
};
