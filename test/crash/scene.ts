import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BatchifyOptions } from '../../src/index.ts';
import {
  type Simulator,
  type SimulatorSettingsChange,
  startSimulator,
} from '../../src/simulator/index.ts';
import type { AskInput } from '../support/asker.ts';

export type Provider = AskInput['provider'];

/**
 * How fast the program's clock runs. The looks after an unclear create are 15 s apart where its trace
 * is exact, and go on for 10 minutes where it is not; both are to last around a second or a few.
 */
const speeds: Record<Provider, number> = { openai: 15, anthropic: 250 };

/** One program, one ledger and the provider, which outlives the program. */
export interface Scene {
  readonly simulator: Simulator;
  readonly store: string;
  /** What the program gets to do; what is given wins. */
  input(prompts: readonly string[], given?: Partial<AskInput>): AskInput;
  close(): Promise<void>;
}

export async function openScene(
  provider: Provider,
  settings: SimulatorSettingsChange = {},
  options: BatchifyOptions = {},
  speed = speeds[provider],
): Promise<Scene> {
  const simulator = await startSimulator({
    speed: { validating: 2, running: 10, finalizing: 2, cancelling: 2 },
    ...settings,
  });
  const folder = await mkdtemp(join(tmpdir(), 'batchling-crash-'));
  const store = join(folder, 'ledger.db');
  const baseURL = simulator.baseUrl(provider);
  const time = { epoch: Date.now(), speed };
  return {
    simulator,
    store,
    input: (prompts, given) => ({
      provider,
      prompts,
      baseURL,
      apiKey: 'sk-test-key',
      time,
      ...given,
      options: {
        store,
        hosts: { [baseURL]: provider },
        window: 10 * speed,
        poll: 8 * speed,
        ...options,
        ...given?.options,
      },
    }),
    async close() {
      await simulator.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
