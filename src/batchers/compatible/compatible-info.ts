import { openaiInfo } from '../openai/openai-info.ts';
import type { ProviderInfo } from '../provider-info.ts';

/*
 * The services that copy OpenAI's batches, in one module: facts are loaded with every import of batchling, and
 * a module costs more than what stands in it.
 */

/** What is known of DeepInfra. */
export const deepinfraInfo: ProviderInfo<'deepinfra'> = {
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

/** What is known of Nebius Token Factory. */
export const nebiusInfo: ProviderInfo<'nebius'> = {
  ...openaiInfo,
  name: 'nebius',
  hosts: ['api.tokenfactory.nebius.com', 'api.studio.nebius.com'],
  roots: ['/v1'],
  endpoints: ['/chat/completions', '/embeddings'],
  unbatched: ['/completions', '/images/generations'],
  accountHeaders: [],
  environment: ['NEBIUS_API_KEY'],
};

/** What is known of Parasail. */
export const parasailInfo: ProviderInfo<'parasail'> = {
  ...openaiInfo,
  name: 'parasail',
  hosts: ['api.parasail.io'],
  roots: ['/v1'],
  endpoints: ['/chat/completions', '/embeddings'],
  unbatched: ['/completions', '/responses'],
  accountHeaders: [],
  environment: ['PARASAIL_API_KEY'],
};

/** What is known of SiliconFlow. */
export const siliconflowInfo: ProviderInfo<'siliconflow'> = {
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

/** What is known of DashScope. */
export const dashscopeInfo: ProviderInfo<'dashscope'> = {
  ...openaiInfo,
  name: 'dashscope',
  hosts: ['dashscope.aliyuncs.com', 'dashscope-intl.aliyuncs.com', '*.*.maas.aliyuncs.com'],
  roots: ['/compatible-mode/v1'],
  endpoints: ['/chat/completions', '/embeddings'],
  unbatched: ['/completions', '/responses'],
  accountHeaders: [],
  environment: ['DASHSCOPE_API_KEY'],
};

/** What is known of Moonshot. */
export const moonshotInfo: ProviderInfo<'moonshot'> = {
  ...openaiInfo,
  name: 'moonshot',
  hosts: ['api.moonshot.ai', 'api.moonshot.cn'],
  roots: ['/v1'],
  endpoints: ['/chat/completions'],
  unbatched: [],
  accountHeaders: [],
  environment: ['MOONSHOT_API_KEY'],
  priceListName: 'moonshotai',
};

/** What is known of Zhipu. */
export const zhipuInfo: ProviderInfo<'zhipu'> = {
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
  priceListName: 'zhipuai',
};

/** What is known of Novita. */
export const novitaInfo: ProviderInfo<'novita'> = {
  ...openaiInfo,
  name: 'novita',
  hosts: ['api.novita.ai'],
  roots: ['/openai/v1'],
  endpoints: ['/chat/completions', '/completions'],
  unbatched: ['/embeddings'],
  accountHeaders: [],
  environment: ['NOVITA_API_KEY'],
};
