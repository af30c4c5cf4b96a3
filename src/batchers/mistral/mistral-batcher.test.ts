import { describe, expect, it } from 'vitest';
import { UnknownOutcomeError } from '../../base/errors.ts';
import type { Batcher, Call } from '../batcher.ts';
import {
  type BatcherSubject,
  failureOf,
  openBench,
  planOf,
  routeOf,
} from '../conformance/subject.test-helper.ts';
import { MistralBatcher } from './mistral-batcher.ts';

const batcher: Batcher = new MistralBatcher();
const subject: BatcherSubject = {
  batcher,
  path: '/chat/completions',
  body: (content) => ({ model: 'mistral-test', messages: [{ role: 'user', content }] }),
  requests: { create: '/v1/batch/jobs', upload: '/v1/files', results: /\/content$/ },
};

function callOf(path: string, json: Record<string, unknown>): Call {
  return { query: '', path, headers: {}, body: JSON.stringify(json), json, settings: {} };
}

function bypassOf(path: string, json: Record<string, unknown>): string | undefined {
  const match = batcher.match(callOf(path, json));
  return 'bypass' in match ? match.bypass : undefined;
}

describe('a call', () => {
  it('travels byte for byte but for its model, which is part of the route', () => {
    const rest = '"seed":12345678901234567890,"2":1,"1":[1.0,1e-7],"s":"ä \u2028 \\u00e4 \\"q\\""';
    const route = routeOf(subject, `{"model":"mistral-test",${rest},\n"messages":[]}`);
    expect(route.model).toBe('mistral-test');
    expect(route.body).toBe(`{${rest},"messages":[]}`);
  });

  it.each(batcher.info.endpoints)('to %s is batched', (path) => {
    const json = { model: 'm', input: 'x', file_url: 'https://a.example', store: false };
    expect(batcher.match(callOf(path, json))).toMatchObject({ endpoint: `/v1${path}`, model: 'm' });
  });

  it('that asks for a stream is batched where a stream can be told, and left alone elsewhere', () => {
    const json = { model: 'm', store: false, file_id: 'f', stream: true };
    for (const path of ['/chat/completions', '/fim/completions']) {
      const match = batcher.match(callOf(path, json));
      expect(match).toMatchObject({ body: '{"store":false,"file_id":"f"}' });
      expect('stream' in match && match.stream).toBeTypeOf('function');
    }
    for (const path of ['/conversations', '/audio/transcriptions']) {
      expect(bypassOf(path, json)).toBe('this endpoint has no streamed answers');
    }
  });

  it('that starts a conversation is left alone if an agent answers, or if somebody may go on with it', () => {
    const json = { model: 'm', inputs: 'x' };
    const ofAgent = { inputs: 'x', agent_id: 'ag', store: false };
    expect(bypassOf('/conversations', ofAgent)).toContain('no agent');
    expect(bypassOf('/conversations', json)).toContain('`store: false` helps');
    expect(bypassOf('/conversations', { ...json, store: null })).toContain('`store: false` helps');
    expect(bypassOf('/conversations', { ...json, store: false })).toBeUndefined();
  });

  it('that transcribes something has to say where it is', () => {
    expect(bypassOf('/audio/transcriptions', { model: 'm' })).toContain('`file_url`');
    expect(bypassOf('/audio/transcriptions', { model: 'm', file_id: 'f' })).toBeUndefined();
  });
});

describe('a batch', () => {
  it('that travels in its create call leaves no file behind, and cannot be created without its bodies', async () => {
    const { send, simulator, wire } = await openBench(subject);
    await send(['an earlier one']);
    const { handle } = await send(['one', 'two']);
    expect(handle).toEqual({
      form: 'inline',
      highWater: simulator.batches()[0]?.id,
      uploadedAt: expect.any(String),
    });
    expect(batcher.canCreateFrom(handle)).toBe(false);
    await batcher.cleanup(wire, handle);
    const asked = simulator.requests.map(({ method, path }) => `${method} ${path}`);
    expect(asked.filter((line) => line.includes('/files'))).toEqual([]);
  });

  it('of 10,000 requests is uploaded', async () => {
    const { wire, simulator } = await openBench(subject);
    const handle = await batcher.stage(wire, tenThousand());
    expect(batcher.canCreateFrom(handle)).toBe(true);
    expect(simulator.requests.map(({ path }) => path)).toEqual(['/v1/files']);
    await batcher.create(wire, planOf(subject, ['bodies are not needed']), handle);
    expect(simulator.batches()[0]?.requests).toBe(10_000);
  });

  it('of few but long requests is uploaded', async () => {
    const { wire, simulator } = await openBench(subject);
    await batcher.stage(wire, planOf(subject, ['x'.repeat(10_000_000)]));
    expect(simulator.requests.map(({ path }) => path)).toEqual(['/v1/files']);
  });

  it('is found once, although the pages of the list have moved on meanwhile', async () => {
    const { wire, send, simulator } = await openBench(subject);
    await send(['an older one']);
    const plan = planOf(subject, ['ours']);
    const handle = await batcher.stage(wire, plan);
    await batcher.create(wire, plan, handle);
    for (let at = 0; at < 99; at += 1) simulator.addForeignBatch({ provider: 'mistral', size: 1 });
    // Ours is the last of the first page now; with one more it is the first of the second page.
    const moving = {
      ...wire,
      async send(request: Parameters<typeof wire.send>[0]) {
        if (request.path.includes('page=1')) await send(['one more']);
        return wire.send(request);
      },
    };
    const found = await batcher.find(moving, plan, {});
    expect(found.kind === 'exact' && found.remotes).toHaveLength(1);
    expect(simulator.requests.some(({ query }) => query.includes('page=1'))).toBe(true);
  });

  it('of an account without jobs is sent, although the list says so by its total alone', async () => {
    const { wire, strike } = await openBench(subject);
    strike('list', { kind: 'status', status: 200, body: { object: 'list', total: 0 } });
    const plan = planOf(subject, ['one']);
    const handle = await batcher.stage(wire, plan);
    strike('list', { kind: 'status', status: 200, body: { object: 'list', total: 0 } });
    expect(await batcher.find(wire, plan, handle)).toEqual({ kind: 'absent' });
    strike('list', { kind: 'status', status: 200, body: { object: 'list', total: 3 } });
    expect(await failureOf(batcher.find(wire, plan, handle))).toBeInstanceOf(UnknownOutcomeError);
  });

  it('that was refused as a whole says why, in the shape that the SDK knows', async () => {
    const { send, ended } = await openBench(subject);
    const { plan, handle, remote } = await send(['fine', '[[invalid]]']);
    const { failure, raw } = await ended(remote, plan, handle);
    expect(raw).toBe('FAILED');
    expect(failure).toMatchObject({ meaning: 'refused', next: 'fail', answer: { status: 400 } });
    expect(JSON.parse(failure?.answer?.body ?? '')).toMatchObject({
      object: 'error',
      message: 'Line 2: marked as invalid',
    });
  });

  it.each([
    ['expired', 'TIMEOUT_EXCEEDED'],
    ['cancelled', 'CANCELLED'],
  ] as const)('that has %s is %s', async (outcome, raw) => {
    const { simulator, send, ended } = await openBench(subject);
    simulator.faults.nextBatch({ outcome, completedFraction: 0.5 });
    const { plan, handle, remote } = await send(['one', 'two']);
    const last = await ended(remote, plan, handle);
    expect(last).toMatchObject({ raw, unfinished: outcome, counts: { total: 2, completed: 1 } });
  });

  it('whose create names a model that is none of the provider is refused line by line', async () => {
    const { send, ended, rows } = await openBench(subject, { models: ['other'] });
    const { plan, handle, remote } = await send(['one']);
    const [row] = await rows(await ended(remote, plan, handle));
    expect(row).toMatchObject({ outcome: { kind: 'answer', answer: { status: 400 } } });
  });

  it('is refused with what the framework says about a field', async () => {
    const { wire } = await openBench(subject);
    const plan = { ...planOf(subject, ['one']), completionWindow: '168' };
    const error = await failureOf(batcher.create(wire, plan, { form: 'inline' }));
    expect(error).toMatchObject({ failure: { meaning: 'refused', next: 'fail' } });
    expect(error).toMatchObject({ failure: { answer: { status: 422 } } });
  });
});

function tenThousand() {
  const plan = planOf(subject, ['x']);
  const count = 10_000;
  return {
    ...plan,
    count,
    bytes: plan.bytes * count,
    async *items() {
      for await (const group of plan.items()) {
        for (let at = 0; at < count; at += 1) yield renumbered(group, at);
      }
    },
  };
}

/** The same items under other ids, which are as long. */
function renumbered<Item extends { readonly before: string }>(group: readonly Item[], at: number) {
  const mark = String(at).padStart(5, '0');
  return group.map((item) => ({ ...item, before: item.before.replace(/.{5}(?=",)/, mark) }));
}
