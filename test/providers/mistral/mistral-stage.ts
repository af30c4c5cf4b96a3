import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Mistral } from '@mistralai/mistralai';
import type { BatchifyOptions } from '../../../src/index.ts';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';

export const model = 'mistral-test';
export const apiKey = 'mistral-test-key-71c0';

/** A simulated Mistral, and programs that use the official SDK with it. */
export interface MistralStage {
  readonly simulator: Simulator;
  /** As the SDK gets it. */
  readonly serverURL: string;
  readonly folder: string;
  /** Impatient options with a ledger in memory; what is given wins. */
  options(given?: BatchifyOptions): BatchifyOptions;
  client(serverURL?: string): Mistral;
  close(): Promise<void>;
}

export async function openMistral(): Promise<MistralStage> {
  const speed = { validating: 2, running: 5, finalizing: 2, cancelling: 2 };
  const simulator = await startSimulator({ speed });
  const serverURL = simulator.baseUrl('mistral');
  const folder = await mkdtemp(join(tmpdir(), 'batchling-mistral-'));
  return {
    simulator,
    serverURL,
    folder,
    options: (given) => ({
      store: ':memory:',
      hosts: { [serverURL]: 'mistral' },
      window: '20ms',
      poll: '10ms',
      bypass: 'error',
      ...given,
    }),
    client: (url = serverURL) => new Mistral({ apiKey, serverURL: url }),
    async close() {
      await simulator.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Asks by chat completion and returns the text of the answer. */
export async function ask(client: Mistral, content: string): Promise<string> {
  const { choices } = await client.chat.complete({ model, messages: [{ role: 'user', content }] });
  return String(choices[0]?.message?.content);
}

export async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`It succeeded: ${JSON.stringify(value)}`);
    },
    (reason: unknown) => reason,
  );
}
