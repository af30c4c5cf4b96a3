import { openaiInfo } from '../openai/openai-info.ts';
import type { ProviderInfo } from '../provider-info.ts';

/*
 * The services that copy OpenAI's batches, in one module: facts are loaded with every import of batchling, and
 * a module costs more than what stands in it.
 */

/** Keys of these services stand for one account each. */
const copiedInfo = { ...openaiInfo, accountHeaders: [] };

/** What is known of DeepInfra. */
export const deepinfraInfo: ProviderInfo<'deepinfra'> = {
  ...copiedInfo,
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
  environment: ['DEEPINFRA_API_KEY', 'DEEPINFRA_TOKEN'],
};

/** What is known of Nebius Token Factory. */
export const nebiusInfo: ProviderInfo<'nebius'> = {
  ...copiedInfo,
  name: 'nebius',
  hosts: ['api.tokenfactory.nebius.com', 'api.studio.nebius.com'],
  roots: ['/v1'],
  endpoints: ['/chat/completions', '/embeddings'],
  unbatched: ['/completions', '/images/generations'],
  environment: ['NEBIUS_API_KEY'],
};

/** What is known of Parasail. */
export const parasailInfo: ProviderInfo<'parasail'> = {
  ...copiedInfo,
  name: 'parasail',
  hosts: ['api.parasail.io'],
  roots: ['/v1'],
  endpoints: ['/chat/completions', '/embeddings'],
  unbatched: ['/completions', '/responses'],
  environment: ['PARASAIL_API_KEY'],
};

/** What is known of SiliconFlow. */
export const siliconflowInfo: ProviderInfo<'siliconflow'> = {
  ...copiedInfo,
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
  environment: ['SILICONFLOW_API_KEY'],
};

/** What is known of DashScope. */
export const dashscopeInfo: ProviderInfo<'dashscope'> = {
  ...copiedInfo,
  name: 'dashscope',
  hosts: ['dashscope.aliyuncs.com', 'dashscope-intl.aliyuncs.com', '*.*.maas.aliyuncs.com'],
  unbatchedHosts: ['batch.dashscope.aliyuncs.com'],
  roots: ['/compatible-mode/v1'],
  endpoints: ['/chat/completions', '/embeddings'],
  unbatched: ['/completions', '/responses'],
  unbatchedBecause: {
    '/compatible-mode/v1/chat/completions':
      'a call to batch.dashscope.aliyuncs.com is a batch by itself: it stays open for up to an hour, and has no id under which batchling could find its answer again. Calls to dashscope.aliyuncs.com are batched',
  },
  environment: ['DASHSCOPE_API_KEY'],
};

/** What is known of Moonshot. */
export const moonshotInfo: ProviderInfo<'moonshot'> = {
  ...copiedInfo,
  name: 'moonshot',
  hosts: ['api.moonshot.ai', 'api.moonshot.cn'],
  roots: ['/v1'],
  endpoints: ['/chat/completions'],
  unbatched: [],
  environment: ['MOONSHOT_API_KEY'],
  priceListName: 'moonshotai',
};

/** What is known of Zhipu. */
export const zhipuInfo: ProviderInfo<'zhipu'> = {
  ...copiedInfo,
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
  environment: ['ZHIPUAI_API_KEY', 'ZAI_API_KEY'],
  priceListName: 'zhipuai',
};

/** What is known of Novita. */
export const novitaInfo: ProviderInfo<'novita'> = {
  ...copiedInfo,
  name: 'novita',
  hosts: ['api.novita.ai'],
  roots: ['/openai/v1'],
  endpoints: ['/chat/completions', '/completions'],
  unbatched: ['/embeddings'],
  environment: ['NOVITA_API_KEY'],
};

/** What is known of OVHcloud AI Endpoints. */
export const ovhcloudInfo: ProviderInfo<'ovhcloud'> = {
  ...copiedInfo,
  name: 'ovhcloud',
  hosts: ['oai.endpoints.kepler.ai.cloud.ovh.net'],
  roots: ['/v1'],
  endpoints: ['/chat/completions', '/responses'],
  unbatched: [
    '/completions',
    '/embeddings',
    '/images/generations',
    '/audio/speech',
    '/audio/transcriptions',
  ],
  environment: ['OVH_AI_ENDPOINTS_ACCESS_TOKEN', 'OVHCLOUD_API_KEY'],
};

/** What is known of Baidu Qianfan. */
export const qianfanInfo: ProviderInfo<'qianfan'> = {
  ...copiedInfo,
  name: 'qianfan',
  hosts: ['qianfan.baidubce.com'],
  roots: ['/v2'],
  versions: ['/v2'],
  endpoints: ['/chat/completions'],
  unbatched: ['/completions', '/embeddings', '/rerank', '/images/generations', '/images/edits'],
  environment: ['QIANFAN_API_KEY'],
};

const agentsOnly =
  'batches of Perplexity take requests to its agents (/v1/agent), and no Sonar chat completions';

/** What is known of Perplexity. */
export const perplexityInfo: ProviderInfo<'perplexity'> = {
  ...copiedInfo,
  name: 'perplexity',
  hosts: ['api.perplexity.ai'],
  roots: ['/v1'],
  // The second is another name of the first, for the SDK of OpenAI.
  endpoints: ['/agent', '/responses'],
  unbatched: [
    '/chat/completions',
    '/sonar',
    '/async/chat/completions',
    '/async/sonar',
    '/embeddings',
    '/contextualizedembeddings',
  ],
  unbatchedBecause: {
    '/chat/completions': agentsOnly,
    '/sonar': agentsOnly,
    '/async/chat/completions': agentsOnly,
    '/async/sonar': agentsOnly,
  },
  environment: ['PERPLEXITY_API_KEY', 'PPLX_API_KEY'],
  baseUrlVariables: [
    {
      name: 'PERPLEXITY_BASE_URL',
      usual: 'https://api.perplexity.ai',
      readBy: 'Python, JavaScript',
    },
  ],
  packages: ['@perplexity-ai/perplexity_ai'],
  sampleCall: (model) => ({
    path: '/agent',
    body: { model, input: 'Say OK.', max_output_tokens: 16 },
  }),
  sampleModels: { 'api.perplexity.ai': 'perplexity/sonar' },
};

/** What is known of Voyage. */
export const voyageInfo: ProviderInfo<'voyage'> = {
  ...copiedInfo,
  name: 'voyage',
  hosts: ['api.voyageai.com'],
  roots: ['/v1'],
  endpoints: ['/embeddings', '/contextualizedembeddings', '/rerank'],
  unbatched: ['/multimodalembeddings'],
  environment: ['VOYAGE_API_KEY'],
  priceListName: 'voyageai',
  sampleCall: (model) => ({ path: '/embeddings', body: { model, input: ['OK'] } }),
  sampleModels: { 'api.voyageai.com': 'voyage-4-lite' },
};
