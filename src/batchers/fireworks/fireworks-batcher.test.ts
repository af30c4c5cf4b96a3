import { describe, expect, it } from 'vitest';
import { UnknownOutcomeError } from '../../base/errors.ts';
import {
  type BatcherSubject,
  callOf,
  failureOf,
  idOf,
  openBench,
  planOf,
  routeOf,
} from '../conformance/subject.test-helper.ts';
import { judgeByStatus } from '../shared/judge-reply.ts';
import { FireworksBatcher } from './fireworks-batcher.ts';
import { fireworksInfo } from './fireworks-info.ts';
import { readFireworksLine } from './fireworks-results.ts';

const batcher = new FireworksBatcher();
const model = 'accounts/fireworks/models/test-model';
const jobs = '/v1/accounts/simulator/batchInferenceJobs';
const subject: BatcherSubject = {
  batcher,
  path: '/chat/completions',
  body: (prompt) => ({ model, messages: [{ role: 'user', content: prompt }] }),
  requests: {
    create: jobs,
    upload: '/v1/accounts/simulator/datasets',
    results: /^\/downloads\//,
  },
};

describe('a call', () => {
  it('leaves its model with the job and all else in its line, byte for byte', () => {
    const body = `{"seed":12345678901234567890, "model":"${model}",\n"messages":[{"role":"user","content":"ä"}]}`;
    const route = routeOf(subject, body);
    expect(route).toMatchObject({
      model,
      body: '{"seed":12345678901234567890,"messages":[{"role":"user","content":"ä"}]}',
    });
    expect(JSON.parse(batcher.ordinary(callOf(subject, body), route).body)).toEqual(
      JSON.parse(body),
    );
  });

  it.each([
    'accounts/me/deployedModels/mine',
    'accounts/fireworks/models/big#accounts/me/deployments/d',
    'accounts/fireworks/routers/r',
    'short-name',
  ])('to %s goes out as it is', (name) => {
    const body = JSON.stringify({ ...subject.body('hello'), model: name });
    expect(batcher.match(callOf(subject, body))).toHaveProperty('bypass');
  });
});

describe('the account', () => {
  const parse = (value: unknown) => fireworksInfo.settings?.account.parse(value);

  it('may be said as its id or as its name', () => {
    expect([parse('my-team'), parse('accounts/my-team')]).toEqual(['my-team', 'my-team']);
    expect([parse('a/b'), parse(''), parse(1)]).toEqual([undefined, undefined, undefined]);
  });

  it('is that of the key, and nobody is asked where the user has said it', async () => {
    const { simulator, wire } = await openBench(subject);
    expect(await batcher.stage(wire, planOf(subject, ['one']))).toMatchObject({
      account: 'simulator',
    });
    const settings = { account: 'simulator' };
    await batcher.stage(wire, { ...planOf(subject, ['one']), settings });
    expect(simulator.countRequests('GET', '/v1/accounts')).toBe(1);
  });

  it('has to be said where a key has several', async () => {
    const { simulator, wire } = await openBench(subject);
    const body = { accounts: [{ name: 'accounts/a' }, { name: 'accounts/b' }] };
    const action = { kind: 'status', status: 200, body } as const;
    simulator.faults.add({ method: 'GET', path: '/v1/accounts', action });
    const error = await failureOf(batcher.stage(wire, planOf(subject, ['one'])));
    expect(error).toMatchObject({ failure: { next: 'fail', answer: { status: 400 } } });
    expect(String(error)).toContain('providers: { fireworks: { account: "my-team" } }');
  });

  it.each(['{}', '[]', 'null', '<html></html>'])('is not read out of %s', async (body) => {
    const { simulator, wire } = await openBench(subject);
    const action = { kind: 'status', status: 200, body } as const;
    simulator.faults.add({ method: 'GET', path: '/v1/accounts', action });
    const error = await failureOf(batcher.stage(wire, planOf(subject, ['one'])));
    expect(error).toBeInstanceOf(UnknownOutcomeError);
  });
});

describe('a job', () => {
  it('is called by a name that a strict reader takes, though it is cut in the middle of a character', async () => {
    const { wire } = await openBench(subject);
    const plan = { ...planOf(subject, ['a']), tags: { name: `${'n'.repeat(62)}🙂` } };
    const handle = await batcher.stage(wire, plan);
    const bodies: string[] = [];
    const recorded: typeof wire = {
      ...wire,
      send(request) {
        bodies.push(String(request.body));
        return wire.send(request);
      },
    };
    await batcher.create(recorded, plan, handle);
    expect(bodies).toEqual([expect.stringContaining(`"displayName":"${'n'.repeat(62)}"`)]);
  });

  it('that comes twice is one, and the second create looks for it', async () => {
    const { simulator, wire } = await openBench(subject);
    const plan = planOf(subject, ['one', 'two']);
    const handle = await batcher.stage(wire, plan);
    const remote = await batcher.create(wire, plan, handle);
    const error = await failureOf(batcher.create(wire, plan, handle));
    expect(error).toBeInstanceOf(UnknownOutcomeError);
    expect(await batcher.find(wire, plan, handle)).toMatchObject({
      kind: 'exact',
      remotes: [{ id: remote.id }],
    });
    expect(simulator.batches()).toHaveLength(1);
  });

  it.each(['', '<html></html>', '{}', '[]', 'null', '{"error":{"message":"no"}}'])(
    'is not absent because of %s',
    async (body) => {
      const { simulator, wire } = await openBench(subject);
      const plan = planOf(subject, ['one']);
      const handle = await batcher.stage(wire, plan);
      const action = { kind: 'status', status: 200, body } as const;
      simulator.faults.add({ method: 'GET', path: /\/batchInferenceJobs\/[^/]+$/, action });
      const error = await failureOf(batcher.find(wire, plan, handle));
      expect(error).toBeInstanceOf(UnknownOutcomeError);
    },
  );

  it('that fails for one of its requests is split, for its model it is not', async () => {
    const { simulator, send, ended } = await openBench(subject);
    const first = await send(['one', '[[invalid]]']);
    const { failure } = await ended(first.remote, first.plan, first.handle);
    expect(failure).toMatchObject({ next: 'smaller' });
    simulator.configure({ models: ['another'] });
    const second = await send(['three']);
    const last = await ended(second.remote, second.plan, second.handle);
    expect(last.failure).toMatchObject({ next: 'fail' });
  });

  it('that was deleted elsewhere is cancelled, with nothing to wait for', async () => {
    const { simulator, wire, send, ended } = await openBench(subject);
    simulator.hold();
    const { plan, handle, remote } = await send(['one', 'two']);
    await batcher.cancel(wire, remote);
    const last = await ended(remote, plan, handle);
    // On a busy machine the first poll sees the deletion itself.
    const raw = expect.stringMatching(/^JOB_STATE_DELETING(_CLEANING_UP)?$/);
    expect(last).toMatchObject({ unfinished: 'cancelled', raw });
    expect(last).not.toHaveProperty('incomplete');
  });

  it('hides none of its answers because of one that is missing', async () => {
    const { send, ended, rows } = await openBench(subject);
    const { plan, handle, remote } = await send(['one', '[[missing]]']);
    expect(await rows(await ended(remote, plan, handle))).toMatchObject([{ id: idOf('one') }]);
  });

  it('leaves neither its input nor its results', async () => {
    const { simulator, wire, send, ended, rows } = await openBench(subject);
    const { plan, handle, remote } = await send(['one']);
    const last = await ended(remote, plan, handle);
    await rows(last);
    await batcher.cleanup(wire, handle);
    expect(simulator.countRequests('DELETE', /\/datasets\/[^/]+$/)).toBe(2);
    expect(await batcher.sharesAccount(wire, handle)).toBe(false);
    await batcher.cleanup(wire, handle);
  });

  it('tells a refusal of the control plane as an error of calls', async () => {
    const { wire, strike } = await openBench(subject);
    const plan = planOf(subject, ['one']);
    const handle = await batcher.stage(wire, plan);
    strike('create', { kind: 'status', status: 400, body: { code: 3, message: 'No quota.' } });
    const error = await failureOf(batcher.create(wire, plan, handle));
    const { answer } = (error as { failure: { answer: { body: string } } }).failure;
    expect(JSON.parse(answer.body)).toMatchObject({ error: { message: 'No quota.', code: 3 } });
  });
});

describe('a line of the results', () => {
  const read = (line: object) => readFireworksLine(JSON.stringify(line), 'x-id', judgeByStatus);

  it.each([
    [
      'a code that is a status',
      { message: 'no', code: 404 },
      { kind: 'answer', answer: { status: 404 } },
    ],
    [
      'a status as text',
      { message: 'no', code: '422' },
      { kind: 'answer', answer: { status: 422 } },
    ],
    ['words', { message: 'invalid role' }, { kind: 'answer', answer: { status: 400 } }],
    [
      'a code in words',
      { message: 'x', code: 'RESOURCE_EXHAUSTED' },
      { kind: 'retry', reason: 'rate-limit' },
    ],
    ['words of its own', { message: 'hm' }, { kind: 'retry', reason: 'server' }],
    ['a text alone', 'permission denied', { kind: 'answer', answer: { status: 403 } }],
  ])('with an error has its status from %s', (_what, error, outcome) => {
    expect(read({ custom_id: 'a', error })).toMatchObject({ id: 'a', outcome });
  });

  it.each([
    ['an empty response', { custom_id: 'a', response: {} }],
    ['neither', { custom_id: 'a' }],
  ])('with %s never ran', (_what, line) => {
    expect(read(line)).toMatchObject({ id: 'a', outcome: { kind: 'retry', reason: 'never-ran' } });
  });

  it("that is OpenAI's is read as such", () => {
    const response = { status_code: 429, body: { error: { message: 'slow' } } };
    expect(read({ custom_id: 'a', response })).toMatchObject({ outcome: { kind: 'retry' } });
  });

  it('without an id is broken', () => {
    expect(read({ response: { id: 1 } })).toHaveProperty('broken');
  });
});
