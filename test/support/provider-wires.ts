import type { BatchifyOptions } from '../../src/index.ts';

interface Place {
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
}

/** How programs of tests talk to a provider, and where its batch wire is. */
export interface ProviderWire {
  /** Whose SDK the program uses. */
  readonly sdk: 'openai' | 'anthropic';
  /** What the program has to say beside its key. */
  readonly options?: BatchifyOptions;
  /** Missing: small batches travel in the create. */
  readonly upload?: Place;
  readonly create: Place;
  readonly poll: Place;
  readonly list: Place;
  readonly results: Place;
  readonly cancel: Place;
  /**
   * How fast the clock of a program runs that is killed. The looks after an unclear create are 15 s apart where
   * its trace is exact, and go on for 10 minutes where it is not; a provider may also want polls to be rare.
   * All of this is to last around a second or a few.
   */
  readonly haste: number;
}

const openaiLike: ProviderWire = {
  sdk: 'openai',
  upload: { method: 'POST', path: /\/files$/ },
  create: { method: 'POST', path: /\/batches$/ },
  poll: { method: 'GET', path: /\/batches\/[^/]+$/ },
  list: { method: 'GET', path: /\/batches$/ },
  results: { method: 'GET', path: /\/content$/ },
  cancel: { method: 'POST', path: /\/cancel$/ },
  haste: 15,
};

const { upload: _, ...inline } = openaiLike;

export const providerWires = {
  openai: openaiLike,
  anthropic: {
    ...inline,
    sdk: 'anthropic',
    results: { method: 'GET', path: /\/results$/ },
    haste: 250,
  },
} satisfies Record<string, ProviderWire>;

export type WiredProvider = keyof typeof providerWires;

export const wiredProviders = Object.keys(providerWires) as WiredProvider[];

export function wireOf(provider: WiredProvider): ProviderWire {
  return providerWires[provider];
}
