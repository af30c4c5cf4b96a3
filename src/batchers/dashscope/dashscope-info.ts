import { openaiInfo } from '../openai/openai-info.ts';
import type { ProviderInfo } from '../provider-info.ts';

/** What is known of DashScope. */
export const dashscopeInfo: ProviderInfo = {
  ...openaiInfo,
  name: 'dashscope',
  hosts: ['dashscope.aliyuncs.com', 'dashscope-intl.aliyuncs.com', '*.*.maas.aliyuncs.com'],
  roots: ['/compatible-mode/v1'],
  endpoints: ['/chat/completions', '/embeddings'],
  unbatched: ['/completions', '/responses'],
  accountHeaders: [],
  environment: ['DASHSCOPE_API_KEY'],
};
