import { openaiInfo } from '../openai/openai-info.ts';
import type { ProviderInfo } from '../provider-info.ts';

/** What is known of Parasail. */
export const parasailInfo: ProviderInfo = {
  ...openaiInfo,
  name: 'parasail',
  hosts: ['api.parasail.io'],
  roots: ['/v1'],
  endpoints: ['/chat/completions', '/embeddings'],
  unbatched: ['/completions', '/responses'],
  accountHeaders: [],
  environment: ['PARASAIL_API_KEY'],
};
