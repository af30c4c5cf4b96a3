import { anthropicInfo } from './anthropic/anthropic-info.ts';
import { azureInfo } from './azure/azure-info.ts';
import type { Batcher } from './batcher.ts';
import { bedrockInfo } from './bedrock/bedrock-info.ts';
import {
  dashscopeInfo,
  deepinfraInfo,
  moonshotInfo,
  nebiusInfo,
  novitaInfo,
  ovhcloudInfo,
  parasailInfo,
  perplexityInfo,
  qianfanInfo,
  siliconflowInfo,
  voyageInfo,
  zhipuInfo,
} from './compatible/compatible-info.ts';
import { doublewordInfo } from './doubleword/doubleword-info.ts';
import { fireworksInfo } from './fireworks/fireworks-info.ts';
import { googleInfo } from './google/google-info.ts';
import { groqInfo } from './groq/groq-info.ts';
import { mistralInfo } from './mistral/mistral-info.ts';
import { openaiInfo } from './openai/openai-info.ts';
import { openrouterInfo } from './openrouter/openrouter-info.ts';
import type { ProviderInfo } from './provider-info.ts';
import { sferenceInfo } from './sference/sference-info.ts';
import { togetherInfo } from './together/together-info.ts';
import { vertexInfo } from './vertex/vertex-info.ts';
import { wildcards } from './wildcards.ts';
import { xaiInfo } from './xai/xai-info.ts';

/** A class the user may pass as an option. */
export type BatcherClass = new () => Batcher;

type Load = () => Promise<BatcherClass>;

/** One line per provider: its facts, and where its batcher is. */
const builtIn = [
  [openaiInfo, async () => (await import('./openai/openai-batcher.ts')).OpenAIBatcher],
  [azureInfo, async () => (await import('./azure/azure-batcher.ts')).AzureOpenAIBatcher],
  [groqInfo, async () => (await import('./groq/groq-batcher.ts')).GroqBatcher],
  [togetherInfo, async () => (await import('./together/together-batcher.ts')).TogetherBatcher],
  [mistralInfo, async () => (await import('./mistral/mistral-batcher.ts')).MistralBatcher],
  [xaiInfo, async () => (await import('./xai/xai-batcher.ts')).XaiBatcher],
  [
    doublewordInfo,
    async () => (await import('./doubleword/doubleword-batcher.ts')).DoublewordBatcher,
  ],
  [sferenceInfo, async () => (await import('./sference/sference-batcher.ts')).SferenceBatcher],
  [anthropicInfo, async () => (await import('./anthropic/anthropic-batcher.ts')).AnthropicBatcher],
  [googleInfo, async () => (await import('./google/google-batcher.ts')).GoogleBatcher],
  [vertexInfo, async () => (await import('./vertex/vertex-batcher.ts')).VertexBatcher],
  [deepinfraInfo, async () => (await import('./deepinfra/deepinfra-batcher.ts')).DeepInfraBatcher],
  [nebiusInfo, async () => (await import('./nebius/nebius-batcher.ts')).NebiusBatcher],
  [parasailInfo, async () => (await import('./parasail/parasail-batcher.ts')).ParasailBatcher],
  [
    siliconflowInfo,
    async () => (await import('./siliconflow/siliconflow-batcher.ts')).SiliconFlowBatcher,
  ],
  [dashscopeInfo, async () => (await import('./dashscope/dashscope-batcher.ts')).DashScopeBatcher],
  [moonshotInfo, async () => (await import('./moonshot/moonshot-batcher.ts')).MoonshotBatcher],
  [zhipuInfo, async () => (await import('./zhipu/zhipu-batcher.ts')).ZhipuBatcher],
  [novitaInfo, async () => (await import('./novita/novita-batcher.ts')).NovitaBatcher],
  [
    openrouterInfo,
    async () => (await import('./openrouter/openrouter-batcher.ts')).OpenRouterBatcher,
  ],
  [voyageInfo, async () => (await import('./voyage/voyage-batcher.ts')).VoyageBatcher],
  [ovhcloudInfo, async () => (await import('./ovhcloud/ovhcloud-batcher.ts')).OVHcloudBatcher],
  [qianfanInfo, async () => (await import('./qianfan/qianfan-batcher.ts')).QianfanBatcher],
  [
    perplexityInfo,
    async () => (await import('./perplexity/perplexity-batcher.ts')).PerplexityBatcher,
  ],
  [fireworksInfo, async () => (await import('./fireworks/fireworks-batcher.ts')).FireworksBatcher],
  [bedrockInfo, async () => (await import('./bedrock/bedrock-batcher.ts')).BedrockBatcher],
] as const satisfies readonly (readonly [ProviderInfo, Load])[];

/** The facts of a built-in provider, with its name as a literal type. */
export type BuiltInInfo = (typeof builtIn)[number][0];

/** What is known of the built-in providers without loading them. */
export const builtInInfos: readonly ProviderInfo[] = builtIn.map(([info]) => info);

/**
 * Just enough of a batcher to see that a request is its own. The rest is loaded with the first such
 * request: a program that imports batchling pays for no provider it does not call.
 */
export class RegisteredBatcher {
  readonly info: ProviderInfo;
  /** Whether the endpoint at this path is batched. */
  readonly handles: (path: string) => boolean;
  /** Whether the endpoint at this path costs money and is not batched. */
  readonly leavesOut: (path: string) => boolean;
  readonly #make: () => Promise<Batcher>;
  #loading: Promise<Batcher> | undefined;
  /** `undefined` until it is loaded. */
  batcher: Batcher | undefined;

  constructor(info: ProviderInfo, make: () => Promise<Batcher>) {
    this.info = info;
    this.handles = wildcards(info.endpoints, '/');
    this.leavesOut = wildcards(info.unbatched ?? [], '/');
    this.#make = make;
  }

  get name(): string {
    return this.info.name;
  }

  load(): Promise<Batcher> {
    this.#loading ??= this.#make().then(
      (batcher) => {
        this.batcher = batcher;
        return batcher;
      },
      (error: unknown) => {
        // Callers that wait now get the error; the next one tries again.
        this.#loading = undefined;
        throw error;
      },
    );
    return this.#loading;
  }
}

/** The user's own batchers are asked before the built-in ones. */
export function registeredBatchers(own: readonly BatcherClass[] = []): RegisteredBatcher[] {
  return [...own.map(registerOwn), ...builtIn.map(register)];
}

function register([info, load]: readonly [ProviderInfo, Load]): RegisteredBatcher {
  return new RegisteredBatcher(info, async () => new (await load())());
}

function registerOwn(OwnBatcher: BatcherClass): RegisteredBatcher {
  const batcher = new OwnBatcher();
  return new RegisteredBatcher(batcher.info, () => Promise.resolve(batcher));
}
