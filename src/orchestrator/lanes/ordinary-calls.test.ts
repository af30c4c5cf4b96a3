import { expect, it } from 'vitest';
import { engineParts } from '../engine-parts.test-helper.ts';
import { Budgets } from '../submit/budgets.ts';
import { FlexTiers } from './flex-tiers.ts';
import { OrdinaryCalls } from './ordinary-calls.ts';

it('that wait for room wait no longer when the engine closes', async () => {
  const { context, queue, work, request, scopeWith } = await engineParts();
  const calls = new OrdinaryCalls(context, {
    budgets: new Budgets(context),
    tiers: new FlexTiers(context),
    withdraw: () => undefined,
    follow: () => undefined,
    endDue: async () => undefined,
  });
  // Another process of this ledger has found the model full, for an hour of a clock that stands still.
  const { account, model, wire } = queue;
  const full = { tokens: 3_600_000, named: false };
  await context.ledger.learn(account.id, `room realtime ${model} ${wire.base}`, full);
  const asked = await request('a', scopeWith({ realtimeConcurrency: 1 }));
  calls.add(asked, 'realtime');
  const ended = work.done();
  calls.close();
  await ended;
  expect(asked.stage).toBe('flushed');
});
