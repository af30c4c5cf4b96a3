import { describe, expect, it } from 'vitest';
import { UnknownOutcomeError } from '../../base/errors.ts';
import type { Row } from '../batcher.ts';
import {
  all,
  type BatcherSubject,
  callOf,
  failureOf,
  openBench,
  planOf,
} from '../conformance/subject.test-helper.ts';
import { XaiBatcher } from './xai-batcher.ts';

const subject: BatcherSubject = {
  batcher: new XaiBatcher(),
  path: '/chat/completions',
  body: (content) => ({ model: 'grok-4.3', messages: [{ role: 'user', content }] }),
  requests: { create: '/v1/batches', upload: '/v1/files', results: /\/results$/ },
};

function matchOf(more: object) {
  const body = JSON.stringify({ ...subject.body('a'), ...more });
  return subject.batcher.match(callOf(subject, body));
}

const answered = (rows: readonly Row[]) => rows.filter((row) => 'id' in row);

describe('what xAI batches', () => {
  it.each([
    [{ deferred: true }, 'asynchronous already'],
    [{ service_tier: 'priority' }, 'not offered in batches'],
    [{ model: 'grok-4.7' }, 'grok-4.7'],
    [{ tools: [{ type: 'web_search' }] }, 'own tools'],
  ])('leaves out %j', (more, reason) => {
    expect(matchOf(more)).toEqual({ bypass: expect.stringContaining(reason) });
  });

  it('takes functions and models that nobody has heard of', () => {
    expect(matchOf({ model: 'grok-9', tools: [{ type: 'function' }] })).toMatchObject({
      endpoint: '/v1/chat/completions',
      model: 'grok-9',
    });
  });

  it.each([
    ['grok-4.3', 0.8],
    ['grok-4.20-0309-reasoning', 0.8],
    ['grok-4.30', 1],
    ['grok-9', 1],
  ])('reckons %s at %f of its price', (model, priceShare) => {
    const { windows } = subject.batcher.limits({ endpoint: '/v1/chat/completions', model });
    expect(windows['24h']?.priceShare).toBe(priceShare);
  });

  it('counts what the model has thought as output', () => {
    const details = { completion_tokens_details: { reasoning_tokens: 118 } };
    const usage = { prompt_tokens: 198, completion_tokens: 1, total_tokens: 317, ...details };
    expect(subject.batcher.usage({ usage })).toMatchObject({ inputTokens: 198, outputTokens: 119 });
  });
});

describe('a key that xAI refuses with status 400', () => {
  it('is a refused key, not a refused batch', async () => {
    const { batcher, wireWith } = await openBench(subject);
    const error = await failureOf(batcher.stage(wireWith('invalid'), planOf(subject, ['one'])));
    expect(error).toMatchObject({ status: 400, failure: { meaning: 'denied', next: 'fail' } });
  });
});

describe('results of a batch that runs', () => {
  it('are read from the first page on, as often as more have finished', async () => {
    const { batcher, wire, simulator, send } = await openBench(subject);
    const prompts = Array.from({ length: 250 }, (_, at) => `q${at}`);
    const { remote, plan } = await send(prompts);
    await expect.poll(() => simulator.batches()[0]?.phase).toBe('ended');
    const running = {
      ...remote,
      state: 'running' as const,
      counts: { total: 300, completed: 250, failed: 0 },
    };
    const first = (await all(batcher.results(wire, running))).flat();
    expect(answered(first)).toHaveLength(plan.count);
    expect(first.at(-1)).toEqual({ cursor: '250' });
    const queries = () => simulator.requests.filter(({ path }) => path.endsWith('/results'));
    expect(queries().map(({ query }) => query)).toEqual([
      '?limit=100',
      '?limit=100&pagination_token=page-100',
      '?limit=100&pagination_token=page-200',
    ]);
    expect(await all(batcher.results(wire, running, '250'))).toEqual([]);
    expect(queries()).toHaveLength(3);
    const again = (await all(batcher.results(wire, running, '249'))).flat();
    expect(answered(again)).toHaveLength(plan.count);
    const ended = { ...running, state: 'ended' as const };
    const last = (await all(batcher.results(wire, ended, '250'))).flat();
    expect(answered(last)).toHaveLength(plan.count);
  });

  it('of a large batch are read again when half as much more has finished', async () => {
    const { batcher, wire, send } = await openBench(subject);
    const { remote } = await send(['one']);
    const reads = async (completed: number, cursor: string) => {
      const counts = { total: 10_000, completed, failed: 0 };
      const running = { ...remote, state: 'running' as const, counts };
      return (await all(batcher.results(wire, running, cursor))).length > 0;
    };
    expect(await reads(2_999, '2000')).toBe(false);
    expect(await reads(3_000, '2000')).toBe(true);
  });

  it('do not go round in circles', async () => {
    const { batcher, wire, strike, send } = await openBench(subject);
    const { remote } = await send(['one']);
    const body = { results: [], pagination_token: 'same' };
    strike('results', { kind: 'status', status: 200, body }, { times: 10 });
    const error = await failureOf(all(batcher.results(wire, { ...remote, state: 'ended' })));
    expect(error).toBeInstanceOf(UnknownOutcomeError);
  });
});

describe('a cancelled batch', () => {
  it('ends half a minute later, with what had finished', async () => {
    const { batcher, wire, simulator, send } = await openBench(subject);
    simulator.hold();
    const { remote, plan, handle } = await send(['one', 'two']);
    await batcher.cancel(wire, remote);
    await expect.poll(() => simulator.batches()[0]?.phase).toBe('ended');
    const polled = { id: remote.id, count: plan.count, handle };
    const seenAfter = async (milliseconds: number) => {
      const clock = { ...wire.clock, now: () => Date.now() + milliseconds };
      const [seen] = await all(batcher.poll({ ...wire, clock }, [polled]));
      return seen;
    };
    expect(await seenAfter(0)).toMatchObject({ state: 'cancelling' });
    const ended = await seenAfter(31_000);
    expect(ended).toMatchObject({ state: 'ended', unfinished: 'cancelled' });
    if (ended === undefined) return;
    const rows = (await all(batcher.results(wire, ended))).flat();
    expect(rows).toHaveLength(2);
    for (const row of rows) {
      expect(row).toMatchObject({ outcome: { kind: 'retry', reason: 'cancelled' } });
    }
    expect(simulator.meter.total).toBe(0);
  });
});

describe('a batch that xAI has cancelled half-way', () => {
  const results = [
    { batch_request_id: 'done', batch_result: { response: { chat_get_completion: { id: 'a' } } } },
    { batch_request_id: 'cut', batch_result: { error: { code: 1, message: 'Cancelled.' } } },
  ];

  it.each([
    ['cancelling', { kind: 'retry', reason: 'cancelled' }],
    ['ended', { kind: 'answer', answer: { status: 400 } }],
  ] as const)(
    'and that is %s: a cancelled row may still turn into an answer until it is over',
    async (state, outcome) => {
      const { batcher, wire, strike, send } = await openBench(subject);
      const { remote } = await send(['one']);
      strike('results', {
        kind: 'status',
        status: 200,
        body: { results, pagination_token: null },
      });
      const counts = { total: 2, completed: 1, failed: 0 };
      const sources = { cancelledBecause: 'Out of credits.' };
      const seen = { ...remote, state, counts, sources };
      const rows = answered((await all(batcher.results(wire, seen))).flat());
      expect(rows).toMatchObject([
        { id: 'done', outcome: { kind: 'answer', answer: { status: 200 } } },
        { id: 'cut', outcome },
      ]);
    },
  );
});

describe('a batch that is looked for', () => {
  it('is found by its name where the list does not tell the file', async () => {
    const { batcher, wire, strike, send } = await openBench(subject);
    const { plan, handle } = await send(['one']);
    const batches = [
      { batch_id: 'other', name: 'other', create_time: new Date().toISOString() },
      { batch_id: 'ours', name: plan.token, create_time: new Date().toISOString() },
    ];
    strike('list', { kind: 'status', status: 200, body: { batches, pagination_token: null } });
    const found = await batcher.find(wire, plan, handle);
    expect(found).toMatchObject({ kind: 'exact', remotes: [{ id: 'ours' }] });
  });
});

it('a line that xAI finds invalid is named', async () => {
  const { simulator, send, ended } = await openBench(subject);
  const { remote, plan, handle } = await send(['fine', '[[invalid]]']);
  const { failure } = await ended(remote, plan, handle);
  expect(failure).toMatchObject({ next: 'isolate', bad: [{ line: 2 }] });
  expect(simulator.meter.total).toBe(0);
});
