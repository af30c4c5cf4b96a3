import { createAnthropic } from './anthropic/provider.ts';
import { azureDescription } from './azure/description.ts';
import { createBedrock } from './bedrock/provider.ts';
import {
  dashscopeDescription,
  deepinfraDescription,
  moonshotDescription,
  nebiusDescription,
  novitaDescription,
  ovhcloudDescription,
  parasailDescription,
  qianfanDescription,
  siliconflowDescription,
  zhipuDescription,
} from './compatible/descriptions.ts';
import { doublewordDescription } from './doubleword/description.ts';
import { createFireworks } from './fireworks/provider.ts';
import { createGoogle } from './google/provider.ts';
import { groqDescription } from './groq/description.ts';
import { createMistral } from './mistral/provider.ts';
import { openaiDescription } from './openai/description.ts';
import { openaiOnly } from './openai/openai-only.ts';
import type { OpenAILike } from './openai-like/description.ts';
import { createOpenAILike } from './openai-like/provider.ts';
import { createOpenRouter } from './openrouter/provider.ts';
import { createPerplexity } from './perplexity/provider.ts';
import { createSference } from './sference/provider.ts';
import { togetherDescription } from './together/description.ts';
import { createVertex } from './vertex/provider.ts';
import { createVoyage } from './voyage/provider.ts';
import type { Provider, ProviderFactory } from './world/provider.ts';
import type { World } from './world/world.ts';
import { createXai } from './xai/provider.ts';

const factories = {
  anthropic: createAnthropic,
  azure: (world) => createOpenAILike(world, azureDescription),
  bedrock: createBedrock,
  dashscope: (world) => createOpenAILike(world, dashscopeDescription),
  deepinfra: (world) => createOpenAILike(world, deepinfraDescription),
  doubleword: (world) => createOpenAILike(world, doublewordDescription),
  fireworks: createFireworks,
  google: createGoogle,
  groq: (world) => createOpenAILike(world, groqDescription),
  mistral: createMistral,
  moonshot: (world) => createOpenAILike(world, moonshotDescription),
  nebius: (world) => createOpenAILike(world, nebiusDescription),
  novita: (world) => createOpenAILike(world, novitaDescription),
  openai: (world) => createOpenAILike(world, { ...openaiDescription, ...openaiOnly }),
  openrouter: createOpenRouter,
  ovhcloud: (world) => createOpenAILike(world, ovhcloudDescription),
  parasail: (world) => createOpenAILike(world, parasailDescription),
  perplexity: createPerplexity,
  qianfan: (world) => createOpenAILike(world, qianfanDescription),
  sference: createSference,
  siliconflow: (world) => createOpenAILike(world, siliconflowDescription),
  together: (world) => createOpenAILike(world, togetherDescription),
  vertex: createVertex,
  voyage: createVoyage,
  xai: createXai,
  zhipu: (world) => createOpenAILike(world, zhipuDescription),
} satisfies Record<string, ProviderFactory>;

/**
 * The providers the simulator speaks.
 *
 * @example
 * ```ts
 * const provider: SimulatedProvider = 'anthropic';
 * const client = new Anthropic({ baseURL: simulator.baseUrl(provider) });
 * ```
 */
export type SimulatedProvider = keyof typeof factories | (string & {});

export type Providers = Record<string, Provider>;

export function createProviders(world: World, others: readonly OpenAILike[]): Providers {
  const built = Object.entries(factories).map(([name, create]) => [name, create(world)]);
  const described = others.map((like) => [like.name, createOpenAILike(world, like)]);
  return Object.fromEntries([...built, ...described]);
}

export function providerNamed(providers: Providers, name: string): Provider {
  const provider = providers[name];
  if (provider !== undefined) return provider;
  const names = Object.keys(providers).join(', ');
  throw new TypeError(`The simulator has no provider ${name}; it has ${names}`);
}

export interface Mount {
  name: SimulatedProvider;
  provider: Provider;
  /** `/openai`, or nothing on a bare host. */
  prefix: string;
  path: string;
}

/** A leading `/<provider>` decides; without one, the provider with the longest bare path does. */
export function findMount(providers: Providers, path: string): Mount | null {
  const all = Object.entries(providers);
  for (const [name, provider] of all) {
    if (path.startsWith(`/${name}/`)) {
      return { name, provider, prefix: `/${name}`, path: path.slice(name.length + 1) };
    }
  }
  let longest = 0;
  let found: Mount | null = null;
  for (const [name, provider] of all) {
    for (const bare of provider.barePaths) {
      if (bare.length <= longest || !(path === bare || path.startsWith(`${bare}/`))) continue;
      longest = bare.length;
      found = { name, provider, prefix: '', path };
    }
  }
  return found;
}
