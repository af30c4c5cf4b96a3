import { expect, it } from 'vitest';
import {
  all,
  type BatcherSubject,
  failureOf,
  openBench,
  planOf,
} from '../conformance/subject.test-helper.ts';
import { GroqBatcher } from './groq-batcher.ts';

const subject: BatcherSubject = {
  batcher: new GroqBatcher(),
  path: '/chat/completions',
  body: (content) => ({ model: 'llama-test', messages: [{ role: 'user', content }] }),
  requests: { create: '/openai/v1/batches', results: /\/content$/ },
};

it('looks at 200 batches in one request, and at those that it is not shown one by one', async () => {
  const { batcher, wire, simulator, send } = await openBench(subject);
  simulator.hold();
  const { remote, plan, handle } = await send(['one']);
  const add = () => simulator.addForeignBatch({ provider: 'groq', size: 1 });
  const others = Array.from({ length: 200 }, add);
  const ids = [remote.id, ...others, 'batch_none'];
  const seen = await all(
    batcher.poll(
      wire,
      ids.map((id) => ({ id, count: plan.count, handle })),
    ),
  );
  expect(seen.map(({ id }) => id).sort()).toEqual([...ids].sort());
  const missing = seen.filter(({ state }) => state === 'missing').map(({ id }) => id);
  expect(missing).toEqual(['batch_none']);
  expect(simulator.countRequests('GET', '/openai/v1/batches')).toBe(2);
  expect(simulator.countRequests('GET', /\/batches\/[^/]+$/)).toBe(1);
});

it('finds a batch on a later page of its list', async () => {
  const { batcher, wire, simulator, send } = await openBench(subject);
  const { remote, plan, handle } = await send(['one']);
  for (let at = 0; at < 45; at += 1) simulator.addForeignBatch({ provider: 'groq', size: 1 });
  const found = await batcher.find(wire, plan, handle);
  expect(found).toMatchObject({ kind: 'exact', remotes: [{ id: remote.id }] });
});

it('tells a plan without batches from a wrong key', async () => {
  const { batcher, wire, strike } = await openBench(subject);
  const plan = planOf(subject, ['one']);
  const handle = await batcher.stage(wire, plan);
  const body = { error: { message: 'Upgrade first.', code: 'not_available_for_plan' } };
  strike('create', { kind: 'status', status: 403, body });
  expect(await failureOf(batcher.create(wire, plan, handle))).toMatchObject({
    failure: { meaning: 'refused', next: 'fail', message: 'Upgrade first.' },
  });
});
