import { openaiInfo } from '../openai/openai-info.ts';
import type { ProviderInfo } from '../provider-info.ts';

/** What is known of Moonshot. */
export const moonshotInfo: ProviderInfo = {
  ...openaiInfo,
  name: 'moonshot',
  hosts: ['api.moonshot.ai', 'api.moonshot.cn'],
  roots: ['/v1'],
  endpoints: ['/chat/completions'],
  unbatched: [],
  accountHeaders: [],
  environment: ['MOONSHOT_API_KEY'],
};
