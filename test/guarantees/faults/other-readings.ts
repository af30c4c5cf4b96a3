import { expect } from 'vitest';
import { accountOf } from '../../../src/simulator/world/accounts.ts';
import {
  answered,
  apiKey,
  both,
  type FaultCase,
  type Provider,
  requests,
  type Scene,
  strike,
} from '../fault-case.ts';

const scopeHeaders: Partial<Record<Provider, readonly string[]>> = {
  openai: ['openai-organization', 'openai-project'],
  anthropic: ['anthropic-workspace-id'],
};

/** Batches of strangers in the account of the callers, of the same size as ours and older. */
function addStrangers({ simulator, provider }: Scene, count: number): void {
  const account = accountOf(provider, apiKey, {}, scopeHeaders[provider] ?? []);
  for (let at = 0; at < count; at += 1) simulator.addForeignBatch({ provider, size: 3, account });
}

/** What is documented nowhere, and client and simulator might both read wrongly. */
export const otherReadings: readonly FaultCase[] = [
  {
    fault:
      'list: oldest first. Create: answer lost, after 130 batches of strangers, of the same size',
    providers: both,
    settings: { oldestFirst: true },
    arrange(scene) {
      addStrangers(scene, 130);
      strike('create', { kind: 'lost' })(scene);
    },
    fates: answered,
    sentAgain: 0,
    check({ simulator }) {
      const { method, path } = requests.create;
      expect(simulator.countRequests(method, path)).toBe(1);
    },
  },
  {
    fault: 'list: oldest first. Poll: five batches after 320 of strangers',
    providers: both,
    prompts: ['one', 'two', 'three', 'four', 'five'],
    options: { batchSize: 1 },
    settings: { oldestFirst: true },
    arrange: (scene) => addStrangers(scene, 320),
    fates: answered,
    sentAgain: 0,
  },
];
