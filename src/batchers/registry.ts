import { anthropicInfo } from './anthropic/anthropic-info.ts';
import type { Batcher } from './batcher.ts';
import { googleInfo } from './google/google-info.ts';
import { openaiInfo } from './openai/openai-info.ts';
import type { ProviderInfo } from './provider-info.ts';
import { wildcards } from './wildcards.ts';

/** A class the user may pass as an option. */
export type BatcherClass = new () => Batcher;

type Load = () => Promise<BatcherClass>;

/** One line per provider: its facts, and where its batcher is. */
const builtIn: readonly (readonly [ProviderInfo, Load])[] = [
  [openaiInfo, async () => (await import('./openai/openai-batcher.ts')).OpenAIBatcher],
  [anthropicInfo, async () => (await import('./anthropic/anthropic-batcher.ts')).AnthropicBatcher],
  [googleInfo, async () => (await import('./google/google-batcher.ts')).GoogleBatcher],
];

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
  /** Once it is loaded. */
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
