import { createAnthropic } from './anthropic/provider.ts';
import { createOpenAI } from './openai/provider.ts';
import type { Provider, ProviderFactory } from './world/provider.ts';
import type { World } from './world/world.ts';

const factories = {
  anthropic: createAnthropic,
  openai: createOpenAI,
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
export type SimulatedProvider = keyof typeof factories;

export type Providers = Record<SimulatedProvider, Provider>;

export function createProviders(world: World): Providers {
  const entries = Object.entries(factories).map(([name, create]) => [name, create(world)]);
  return Object.fromEntries(entries) as Providers;
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
  const all = Object.entries(providers) as Array<[SimulatedProvider, Provider]>;
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
