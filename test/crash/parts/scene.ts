import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BatchifyOptions } from '../../../src/index.ts';
import {
  type Simulator,
  type SimulatorSettingsChange,
  startSimulator,
} from '../../../src/simulator/index.ts';
import type { AskInput } from '../../support/processes/asker.ts';
import { type WiredProvider, wireOf } from '../../support/provider-wires.ts';

export type Provider = WiredProvider;

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
  speed = wireOf(provider).haste,
  database?: string,
): Promise<Scene> {
  const simulator = await startSimulator({
    speed: { validating: 2, running: 10, finalizing: 2, cancelling: 2 },
    ...wireOf(provider).settings,
    ...settings,
  });
  const folder = await mkdtemp(join(tmpdir(), 'batchling-crash-'));
  const store = database ?? join(folder, 'ledger.db');
  const baseURL = `${simulator.baseUrl(provider)}${wireOf(provider).path ?? ''}`;
  const time = { epoch: Date.now(), speed };
  const { model } = wireOf(provider);
  return {
    simulator,
    store,
    input: (prompts, given) => ({
      sdk: wireOf(provider).sdk,
      ...(model !== undefined && { model }),
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
        ...wireOf(provider).options,
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
