import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic, { type ClientOptions as AnthropicOptions } from '@anthropic-ai/sdk';
import OpenAI, { type ClientOptions as OpenAIOptions } from 'openai';
import type { BatchifyOptions, ProviderName } from '../../src/index.ts';
import {
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../src/simulator/index.ts';

/** A simulator, a folder for ledgers, and clients and options that point at them. */
export interface Stage {
  readonly simulator: Simulator;
  readonly folder: string;
  /** Base URLs of the simulator, as the option `hosts`. */
  readonly hosts: Record<string, ProviderName>;
  /** The path of a ledger nobody has used yet. */
  newStore(): string;
  /** Impatient options with a fresh ledger; what is given wins. */
  options(given?: BatchifyOptions): BatchifyOptions;
  openai(given?: OpenAIOptions): OpenAI;
  anthropic(given?: AnthropicOptions): Anthropic;
  close(): Promise<void>;
}

const speed = { validating: 2, running: 5, finalizing: 2, cancelling: 2 };

export async function openStage(given: SimulatorOptions = {}): Promise<Stage> {
  const simulator = await startSimulator({ speed, ...given });
  const folder = await mkdtemp(join(tmpdir(), 'batchling-test-'));
  const hosts: Record<string, ProviderName> = {
    [simulator.baseUrl('openai')]: 'openai',
    [simulator.baseUrl('anthropic')]: 'anthropic',
  };
  let stores = 0;
  const newStore = () => {
    stores += 1;
    return join(folder, `ledger-${stores}`, 'ledger.db');
  };
  return {
    simulator,
    folder,
    hosts,
    newStore,
    options: (given) => ({ store: newStore(), hosts, window: '20ms', poll: '10ms', ...given }),
    openai: (given) =>
      new OpenAI({
        apiKey: 'sk-test-key',
        baseURL: simulator.baseUrl('openai'),
        organization: null,
        project: null,
        ...given,
      }),
    anthropic: (given) =>
      new Anthropic({
        apiKey: 'sk-ant-test-key',
        baseURL: simulator.baseUrl('anthropic'),
        ...given,
      }),
    async close() {
      await simulator.close();
      // A process that was killed a moment ago may still let go of its files.
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}
