import { expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import type { Remote } from '../../batchers/batcher.ts';
import { OpenAIBatcher } from '../../batchers/openai/openai-batcher.ts';
import { Batch } from '../model/batch.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import { WatchedBatch, type WatchServices } from './watched-batch.ts';

it('a batch does not end before its last state is written: the ledger would see it out of order', async () => {
  let written: () => void = () => undefined;
  const noted = new Promise<void>((resolve) => {
    written = resolve;
  });
  const context = {
    clock: new ManualClock(),
    stopped: new AbortController().signal,
    ledger: { polled: () => noted },
    troubles: { passed: () => undefined },
    background: (_what: string, work: Promise<unknown>) => void work,
  } as unknown as EngineContext;
  const steps: string[] = [];
  const collector = { read: async () => undefined, finish: async () => void steps.push('finish') };
  const services = {
    collector,
    watcher: { watch: () => true, unwatch: () => undefined },
  } as unknown as WatchServices;
  const queue = { batcher: new OpenAIBatcher(), endpoint: '/v1/x', model: 'm' };
  const batch = new Batch('bl_1', queue as unknown as RequestQueue, {} as Batch['lease']);
  const state = 'running';
  const remote: Remote = { id: 'batch_1', state, raw: 'in_progress', readable: false, sources: {} };
  batch.moveTo({ name: 'creating' });
  batch.moveTo({ name: 'running', remote, acceptedAt: 0 });
  const watched = new WatchedBatch(context, services, batch, () => undefined);
  const ended = watched.follow({ atOnce: false }).then(({ is }) => steps.push(is));
  watched.seen({ ...remote, state: 'ended', raw: 'completed' });
  await new Promise((resolve) => setImmediate(resolve));
  expect(steps).toEqual([]);
  written();
  await ended;
  expect(steps).toEqual(['finish', 'collected']);
});
