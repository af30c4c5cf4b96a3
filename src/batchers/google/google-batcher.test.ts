import { describe, expect, it } from 'vitest';
import type { StreamedBody, WireRequest } from '../../http/wire.ts';
import { type BatcherSubject, openBench, planOf } from '../conformance/subject.test-helper.ts';
import { GoogleBatcher } from './google-batcher.ts';

const subject: BatcherSubject = {
  batcher: new GoogleBatcher(),
  path: '/models/gemini-test:generateContent',
  model: 'gemini-test',
  body: (prompt) => ({ contents: [{ role: 'user', parts: [{ text: prompt }] }] }),
  requests: {
    create: '/v1beta/models/gemini-test:batchGenerateContent',
    list: '/v1beta/batches',
    results: /:download$/,
  },
};

const prompts = (count: number) => Array.from({ length: count }, (_, at) => `prompt ${at}`);

async function textOf(body: WireRequest['body']): Promise<string> {
  if (typeof body === 'string' || body === undefined) return body ?? '';
  const pieces: Uint8Array[] = [];
  for await (const piece of (body as StreamedBody).chunks()) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

describe('a batch', () => {
  it.each([
    ['few small requests', prompts(20), false],
    ['many requests', prompts(21), true],
    ['a large request', ['x'.repeat(1_000_001)], true],
  ])('of %s is staged as it should be', async (_what, asked, isFile) => {
    const { batcher, wire, simulator } = await openBench(subject);
    const handle = await batcher.stage(wire, planOf(subject, asked));
    expect(batcher.canCreateFrom(handle)).toBe(isFile);
    expect(handle).toEqual(
      isFile ? { file: expect.stringMatching(/^files\//) } : { form: 'inline' },
    );
    expect(simulator.requests).toHaveLength(isFile ? 2 : 0);
  });

  it.each([1, 21])('of %i requests asks for a webhook where one is named', async (count) => {
    const { batcher, wire, simulator } = await openBench(subject);
    const webhookUrl = 'https://batches.example/webhooks/google';
    const plan = { ...planOf(subject, prompts(count)), settings: { webhookUrl } };
    const bodies: string[] = [];
    const heard: typeof wire = {
      ...wire,
      send: async (request) => {
        if (/:batchGenerateContent$/.test(request.path)) bodies.push(await textOf(request.body));
        return wire.send(request);
      },
    };
    await batcher.create(heard, plan, await batcher.stage(wire, plan));
    expect(JSON.parse(bodies[0] ?? '')).toMatchObject({
      batch: { webhookConfig: { uris: [webhookUrl] } },
    });
    expect(simulator.batches()).toHaveLength(1);
  });

  it.each([false, true])(
    'is found on any page of a list, whichever way it is ordered (oldest first: %s)',
    async (oldestFirst) => {
      const { batcher, wire, simulator, send } = await openBench(subject, { oldestFirst });
      const { plan, handle, remote } = await send(['ours']);
      for (let at = 0; at < 250; at += 1) {
        simulator.addForeignBatch({ provider: 'google', size: 1 });
      }
      const found = await batcher.find(wire, plan, handle);
      expect(found).toMatchObject({ kind: 'exact', remotes: [{ id: remote.id }] });
      expect(simulator.countRequests('GET', '/v1beta/batches')).toBe(3);
    },
  );

  it('is found with its twin, although they are pages apart', async () => {
    const { batcher, wire, simulator, send } = await openBench(subject);
    const { plan, handle, remote } = await send(['ours']);
    for (let at = 0; at < 150; at += 1) {
      simulator.addForeignBatch({ provider: 'google', size: 1 });
    }
    const twin = await batcher.create(wire, plan, handle);
    const found = await batcher.find(wire, plan, handle);
    expect(found).toMatchObject({ kind: 'exact', remotes: [{ id: twin.id }, { id: remote.id }] });
  });

  it('that shows answers while it runs is not read before its end', async () => {
    const { batcher, wire, simulator, send } = await openBench(subject, { earlyResults: true });
    simulator.faults.nextBatch({ stuckIn: 'in_progress' });
    const { plan, handle, remote } = await send(['one', 'two']);
    await expect.poll(() => simulator.meter.total).toBe(2);
    const polled = { id: remote.id, count: plan.count, handle };
    for await (const seen of batcher.poll(wire, [polled])) {
      expect(seen).toMatchObject({ state: 'running', readable: false, sources: {} });
    }
  });

  it('of which only a part was answered has no reason for the rest', async () => {
    const { simulator, send, ended, rows } = await openBench(subject);
    simulator.faults.nextBatch({ finalStatus: 'JOB_STATE_PARTIALLY_SUCCEEDED' });
    const { plan, handle, remote } = await send(['one', '[[missing]]']);
    const last = await ended(remote, plan, handle);
    expect(last.unfinished).toBeUndefined();
    expect(await rows(last)).toHaveLength(1);
  });
});
