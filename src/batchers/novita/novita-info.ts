import { openaiInfo } from '../openai/openai-info.ts';
import type { ProviderInfo } from '../provider-info.ts';

/** What is known of Novita. */
export const novitaInfo: ProviderInfo = {
  ...openaiInfo,
  name: 'novita',
  hosts: ['api.novita.ai'],
  roots: ['/openai/v1'],
  endpoints: ['/chat/completions', '/completions'],
  unbatched: ['/embeddings'],
  accountHeaders: [],
  environment: ['NOVITA_API_KEY'],
};
