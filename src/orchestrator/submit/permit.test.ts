import { expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import { OpenAIBatcher } from '../../batchers/index.ts';
import { openMemoryLedger } from '../../ledger/memory/memory-ledger.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Queue } from '../queue/queue.ts';
import { Permits } from './permit.ts';

const clock = new ManualClock();
let now = clock.now();
const ledger = await openMemoryLedger({ clock: { now: () => now } });
const account = await ledger.account({ provider: 'openai', hash: new Uint8Array(32) });

/** How many tokens a new engine believes to have room for. */
async function limitAt(base: string, time: number): Promise<number> {
  now = time;
  const context = { ledger, clock } as unknown as EngineContext;
  const limits = new OpenAIBatcher().limits({ endpoint: '', model: 'm' });
  const queue = { account: { id: account }, limits, model: 'm', wire: { base } };
  return (await new Permits(context).quotaOf(queue as unknown as Queue)).limit;
}

it('what was learnt holds for its base and for a day, even if the clock was set back meanwhile', async () => {
  await ledger.learn(account, 'm at one', { tokens: 50, named: true });
  const learntAt = clock.now();
  expect(await limitAt('one', learntAt)).toBe(50);
  expect(await limitAt('one', learntAt + 23 * 3_600_000)).toBe(50);
  expect(await limitAt('one', learntAt + 24 * 3_600_000)).toBe(Number.POSITIVE_INFINITY);
  expect(await limitAt('one', learntAt - 3_600_000)).toBe(50);
  expect(await limitAt('one', learntAt - 24 * 3_600_000)).toBe(Number.POSITIVE_INFINITY);
  expect(await limitAt('other', learntAt)).toBe(Number.POSITIVE_INFINITY);
});
