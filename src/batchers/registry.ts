import type { Batcher } from './batcher.ts';

/** A class the user may pass as an option. */
export type BatcherClass = new () => Batcher;

/**
 * Just enough of a batcher to see that a request is its own. The rest is loaded with the first such
 * request: a program that imports batchling pays for no provider it does not call.
 */
export class RegisteredBatcher {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly root: string;
  readonly versions: readonly string[];
  readonly handles: (path: string) => boolean;
  readonly unbatched: readonly string[];
  readonly #make: () => Promise<Batcher>;
  #loading: Promise<Batcher> | undefined;
  /** Once it is loaded. */
  batcher: Batcher | undefined;

  constructor(facts: BatcherFacts, make: () => Promise<Batcher>) {
    this.name = facts.name;
    this.hosts = facts.hosts;
    this.root = facts.root;
    this.versions = facts.versions;
    this.handles = facts.handles;
    this.unbatched = facts.unbatched ?? [];
    this.#make = make;
  }

  load(): Promise<Batcher> {
    this.#loading ??= this.#make().then(
      (batcher) => {
        this.batcher = batcher;
        return batcher;
      },
      (error: unknown) => {
        // For those who wait now: the next one tries again.
        this.#loading = undefined;
        throw error;
      },
    );
    return this.#loading;
  }
}

interface BatcherFacts {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly root: string;
  readonly versions: readonly string[];
  handles(path: string): boolean;
  /** Endpoints that cost money and are not batched, which is told of. */
  readonly unbatched?: readonly string[];
}

/** One entry per provider. A test compares each with what its batcher says of itself. */
const builtIn: readonly (() => RegisteredBatcher)[] = [
  () =>
    new RegisteredBatcher(
      {
        name: 'openai',
        hosts: ['api.openai.com'],
        root: '/v1',
        versions: ['/v1'],
        handles: (path) => /^\/(chat\/completions|responses|embeddings)$/.test(path),
        unbatched: [
          '/completions',
          '/moderations',
          '/images/generations',
          '/images/edits',
          '/images/variations',
          '/audio/speech',
          '/audio/transcriptions',
          '/audio/translations',
          '/videos',
        ],
      },
      async () => new (await import('./openai/openai-batcher.ts')).OpenAIBatcher(),
    ),
  () =>
    new RegisteredBatcher(
      {
        name: 'anthropic',
        hosts: ['api.anthropic.com'],
        root: '/v1',
        versions: ['/v1'],
        handles: (path) => path === '/messages',
        unbatched: ['/complete'],
      },
      async () => new (await import('./anthropic/anthropic-batcher.ts')).AnthropicBatcher(),
    ),
];

/** The user's own batchers are asked before the built-in ones. */
export function registeredBatchers(own: readonly BatcherClass[] = []): RegisteredBatcher[] {
  return [...own.map(registerOwn), ...builtIn.map((register) => register())];
}

function registerOwn(OwnBatcher: BatcherClass): RegisteredBatcher {
  const batcher = new OwnBatcher();
  const handles = (path: string) => batcher.handles(path);
  return new RegisteredBatcher({ ...batcher.info, handles }, () => Promise.resolve(batcher));
}
