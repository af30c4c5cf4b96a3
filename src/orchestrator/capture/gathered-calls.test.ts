import { setImmediate } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { OpenAIBatcher } from '../../batchers/openai/openai-batcher.ts';
import { RegisteredBatcher } from '../../batchers/registry.ts';
import { engineParts } from '../engine-parts.test-helper.ts';
import type { CapturedCall } from '../model/call.ts';
import { AbandonedRequests } from './abandoned-requests.ts';
import { ClientRetries } from './client-retries.ts';
import { Intake } from './intake.ts';
import { OverlappingOccurrences } from './overlapping-occurrences.ts';
import { Router, type Target } from './router.ts';
import { Spool } from './spool.ts';

const calls = 40;
/** More turns of the event loop than it takes to admit one call. */
const turns = 20;

/** How many transactions the calls take, of which each comes when the one before it could be admitted. */
async function transactions(accountsApart: boolean): Promise<number> {
  const { context, queue, clock, scopeWith } = await engineParts();
  const batcher = new OpenAIBatcher();
  const router = new Router([new RegisteredBatcher(batcher.info, async () => batcher)], []);
  const target = router.find('https://api.openai.com/v1/chat/completions') as Target;
  await target.load();
  const admit = vi.spyOn(context.ledger, 'admit');
  const intake = new Intake(context, {
    accounts: { known: () => queue.account },
    queues: { known: () => queue },
    clientRetries: new ClientRetries(clock, new AbandonedRequests()),
    departures: {},
    occurrences: new OverlappingOccurrences(),
    accountsApart,
    spool: new Spool(context.ledger),
    deadlines: {},
    follow: () => undefined,
  } as unknown as ConstructorParameters<typeof Intake>[1]);
  for (let number = 0; number < calls; number += 1) {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: `${number}` }] });
    const call = { scope: scopeWith(), target, headers: {}, body, taken: () => undefined };
    intake.push(call as unknown as CapturedCall);
    for (let turn = 0; turn < turns; turn += 1) await setImmediate();
  }
  await intake.drained();
  expect(admit.mock.calls.flatMap(([, asks]) => asks)).toHaveLength(calls);
  return admit.mock.calls.length;
}

it('new calls of a gateway, which come one by one, are admitted together', async () => {
  expect(await transactions(true)).toBeLessThan(calls - 5);
});

it('calls of a program are admitted as they come', async () => {
  expect(await transactions(false)).toBeGreaterThan(calls - 5);
});
