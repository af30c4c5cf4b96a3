import {
  DashScopeBatcher,
  DeepInfraBatcher,
  MoonshotBatcher,
  NebiusBatcher,
  NovitaBatcher,
  type OpenAIBatcher,
  OVHcloudBatcher,
  ParasailBatcher,
  QianfanBatcher,
  SiliconFlowBatcher,
  ZhipuBatcher,
} from '../../src/batchers/index.ts';
import type { ProviderCase } from './provider-stage.ts';

/** A service that copies OpenAI's batches. */
export interface Service extends ProviderCase {
  readonly batcher: OpenAIBatcher;
  /** Where its SDK would send a chat completion. */
  readonly urls: readonly string[];
  /** The share of the list price within a day. */
  readonly price: number;
}

export const usualLine = (id: string, body: string) =>
  `{"custom_id":"${id}","method":"POST","url":"/v1/chat/completions","body":${body}}`;

const usual = { model: 'test-model', root: '/v1', line: usualLine, price: 0.5 };

export const deepinfra: Service = {
  ...usual,
  name: 'deepinfra',
  batcher: new DeepInfraBatcher(),
  root: '/v1/openai',
  urls: ['https://api.deepinfra.com/v1/openai'],
  price: 0.8,
};
export const nebius: Service = {
  ...usual,
  name: 'nebius',
  batcher: new NebiusBatcher(),
  urls: ['https://api.tokenfactory.nebius.com/v1', 'https://api.studio.nebius.com/v1'],
};
export const parasail: Service = {
  ...usual,
  name: 'parasail',
  batcher: new ParasailBatcher(),
  urls: ['https://api.parasail.io/v1'],
};
export const siliconflow: Service = {
  ...usual,
  name: 'siliconflow',
  batcher: new SiliconFlowBatcher(),
  urls: ['https://api.siliconflow.cn/v1'],
};
export const dashscope: Service = {
  ...usual,
  name: 'dashscope',
  batcher: new DashScopeBatcher(),
  root: '/compatible-mode/v1',
  urls: [
    'https://dashscope.aliyuncs.com/compatible-mode/v1',
    'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    'https://llm-ab12.ap-southeast-1.maas.aliyuncs.com/compatible-mode/v1',
  ],
};
export const moonshot: Service = {
  ...usual,
  name: 'moonshot',
  batcher: new MoonshotBatcher(),
  urls: ['https://api.moonshot.ai/v1', 'https://api.moonshot.cn/v1'],
  price: 0.6,
};
export const zhipu: Service = {
  ...usual,
  name: 'zhipu',
  batcher: new ZhipuBatcher(),
  root: '/api/paas/v4',
  line: (id, body) => usualLine(id, body).replace('/v1/', '/v4/'),
  urls: ['https://open.bigmodel.cn/api/paas/v4'],
};
export const novita: Service = {
  ...usual,
  name: 'novita',
  batcher: new NovitaBatcher(),
  root: '/openai/v1',
  line: (id, body) => `{"custom_id":"${id}","body":${body}}`,
  urls: ['https://api.novita.ai/openai/v1'],
};
export const ovhcloud: Service = {
  ...usual,
  name: 'ovhcloud',
  batcher: new OVHcloudBatcher(),
  urls: ['https://oai.endpoints.kepler.ai.cloud.ovh.net/v1'],
};
export const qianfan: Service = {
  ...usual,
  name: 'qianfan',
  batcher: new QianfanBatcher(),
  root: '/v2',
  line: (id, body) => usualLine(id, body).replace('/v1/', '/v2/'),
  urls: ['https://qianfan.baidubce.com/v2'],
  price: 0.4,
};

export const services = [
  deepinfra,
  nebius,
  parasail,
  siliconflow,
  dashscope,
  moonshot,
  zhipu,
  novita,
  ovhcloud,
  qianfan,
] as const;
