import { createServer } from 'node:http';
import { ClientClosedRequestError } from '@anthropic-ai/sdk';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import type { SimulatorOptions } from '../../../src/simulator/index.ts';
import { LeapingClock } from '../../guarantees/leaping-clock.ts';
import { askClaude } from '../../support/ask.ts';
import { startRecordingProxy } from '../../support/servers/recording-proxy.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;

async function open(given: SimulatorOptions = {}): Promise<Stage> {
  stage = await openStage(given);
  return stage;
}
afterEach(() => stage.close());

const prompts = ['one', 'two', 'three', 'four'];
const hour = 3_600_000;

/** Hours pass in milliseconds, for the program and for its provider. */
function leapingClock(): LeapingClock {
  const clock = new LeapingClock(30 * hour);
  onTestFinished(() => clock.stop());
  return clock;
}

function askAll(given: BatchifyOptions = {}) {
  const client = stage.anthropic({ timeout: 48 * hour });
  return batchify(
    () => Promise.allSettled(prompts.map((prompt) => askClaude(client, prompt))),
    stage.options(given),
  );
}

const answers = prompts.map((prompt) => ({
  status: 'fulfilled',
  value: expect.stringContaining(`answer to "${prompt}"`),
}));

describe('a create whose answer is lost', () => {
  it.each([
    ['its list is quick', {}],
    [
      'its list lags, and strangers send batches of that size',
      { listLag: 90_000, foreignBatches: true },
    ],
    ['its list begins with the oldest', { oldestFirst: true, foreignBatches: true }],
  ])(
    'is found by the ids in its results, and nothing runs twice, where %s',
    async (_where, settings) => {
      const clock = leapingClock();
      const { simulator } = await open({ clock, ...settings });
      simulator.faults.add({
        method: 'POST',
        path: '/v1/messages/batches',
        action: { kind: 'lost' },
      });
      expect(await askAll({ clock })).toMatchObject(answers);
      expect(simulator.meter.total).toBe(prompts.length);
      expect([...simulator.meter.countByCustomId().values()]).toEqual([1, 1, 1, 1]);
      const creates = simulator.requests.filter(
        ({ method, path }) => method === 'POST' && path === '/v1/messages/batches',
      );
      expect(creates).toHaveLength(1);
    },
  );
});

describe('a create that was not accepted', () => {
  it.each([
    [429, 'rate_limit_error', undefined],
    [429, 'rate_limit_error', 'ramp_limit_exceeded'],
    [503, 'api_error', 'cmek_key_unreachable'],
    [529, 'overloaded_error', undefined],
  ])('with %i, %s and %s is sent again', async (status, type, code) => {
    const clock = leapingClock();
    const { simulator } = await open({ clock });
    const error = { type, message: 'later', details: { error_code: code } };
    const body = { type: 'error', error, request_id: null };
    const action = { kind: 'status', status, body } as const;
    const path = '/v1/messages/batches';
    const refusal = simulator.faults.add({ method: 'POST', path, action });
    expect(await askAll({ clock })).toMatchObject(answers);
    expect(refusal.hits).toBe(1);
    expect(simulator.meter.total).toBe(prompts.length);
  });
});

describe('a batch that ends early', () => {
  it('is cancelled at the provider by `scope.cancel()`', async () => {
    const { simulator, anthropic, options } = await open();
    simulator.hold();
    const scope = batchify(options());
    const asked = scope.run(() =>
      Promise.allSettled(prompts.map((prompt) => askClaude(anthropic(), prompt))),
    );
    await until(() => scope.stats.batches.submitted === 1, 'the batch');
    await scope.cancel();
    for (const outcome of await asked) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { status: 499 } });
      expect(outcome.status === 'rejected' && outcome.reason).toBeInstanceOf(
        ClientClosedRequestError,
      );
    }
    await scope.close();
    await until(() => simulator.batches()[0]?.ending === 'cancelled', 'the end');
    expect(simulator.meter.total).toBe(0);
  });

  it('by expiry keeps what has run and sends the rest again', async () => {
    const { simulator } = await open();
    simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 0.5 });
    expect(await askAll()).toMatchObject(answers);
    expect(
      simulator
        .batches()
        .map(({ requests }) => requests)
        .sort(),
    ).toEqual([2, 4]);
    expect(simulator.meter.total).toBe(prompts.length);
  });

  it('by a cancel of somebody else keeps what has run and tells the others', async () => {
    const { simulator } = await open();
    simulator.faults.nextBatch({ outcome: 'cancelled', completedFraction: 0.5 });
    const outcomes = await askAll();
    expect(outcomes.map(({ status }) => status).sort()).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    expect(simulator.meter.total).toBe(2);
  });
});

describe('a token of OAuth, which needs a beta on every request', () => {
  const credentials = async () => ({ token: 'sk-ant-oat01-test', expiresAt: null });
  const client = () => stage.anthropic({ apiKey: null, credentials, timeout: 48 * hour });

  it('sees its batches: one by one, in a list, and after a lost create', async () => {
    const clock = leapingClock();
    const { simulator, options } = await open({ clock });
    const path = '/v1/messages/batches';
    const sent = simulator.faults.add({ method: 'POST', path, action: { kind: 'lost' } });
    const outcomes = await batchify(
      () => Promise.allSettled(prompts.map((prompt) => askClaude(client(), prompt))),
      options({ clock, batchSize: 1 }),
    );
    expect(outcomes).toMatchObject(answers);
    expect(sent.hits).toBe(1);
    expect(simulator.meter.total).toBe(prompts.length);
  });

  it('cancels its batches', async () => {
    const { simulator, options } = await open();
    simulator.hold();
    const scope = batchify(options());
    const asked = scope.run(() => askClaude(client(), 'one').catch(() => 'cancelled'));
    await until(() => scope.stats.batches.submitted === 1, 'the batch');
    await scope.cancel();
    expect(await asked).toBe('cancelled');
    await scope.close();
    await until(() => simulator.batches()[0]?.ending === 'cancelled', 'the end');
  });
});

describe('results that Anthropic has archived', () => {
  it('are told as what they are, without waiting for more', async () => {
    const { simulator } = await open({ resultsKept: 0 });
    const reason = { status: 502, type: 'batchling_missing' };
    for (const outcome of await askAll({ attempts: 1 })) {
      expect(outcome).toMatchObject({ status: 'rejected', reason });
      expect(String(outcome.status === 'rejected' && outcome.reason.message)).toContain(
        'archived the results of this batch',
      );
    }
    expect(simulator.meter.total).toBe(prompts.length);
  });

  it('are asked for again, and the event says why', async () => {
    const { simulator, options, anthropic } = await open({ resultsKept: 0 });
    const scope = batchify(options());
    const reasons: string[] = [];
    scope.on('request:retried', (retried) => {
      reasons.push(retried.reason);
      simulator.configure({ resultsKept: hour });
    });
    const answer = await scope.run(() => askClaude(anthropic(), 'one'));
    await scope.close();
    expect(answer).toContain('answer to "one"');
    expect(reasons).toEqual(['lost']);
  });
});

describe('the URL of the results', () => {
  /** A way to the simulator on which batches say that their results are somewhere else. */
  async function standIn(resultsUrl: (id: string, own: string) => string) {
    const { simulator } = await open();
    const proxy = await startRecordingProxy(simulator.url, {
      rename: true,
      rewrite: (body) =>
        body.replace(/"results_url":"[^"]*\/(msgbatch_\w+)\/results"/g, (_, id: string) => {
          return `"results_url":${JSON.stringify(resultsUrl(id, proxy.url))}`;
        }),
    });
    onTestFinished(() => proxy.close());
    return proxy;
  }

  async function startStranger(results?: () => string) {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
      if (results === undefined) response.writeHead(404).end();
      else response.end(results());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
    const { port } = server.address() as { port: number };
    return { url: `http://127.0.0.1:${port}`, seen };
  }

  const askAt = (base: string) =>
    batchify(
      () => askClaude(stage.anthropic({ baseURL: base }), 'one'),
      stage.options({ hosts: { [base]: 'anthropic' } }),
    );

  it('at a foreign origin is not asked, least of all with the key', async () => {
    const stranger = await startStranger();
    const proxy = await standIn((id) => `${stranger.url}/v1/messages/batches/${id}/results`);
    expect(await askAt(`${proxy.url}/anthropic`)).toContain('answer to "one"');
    expect(stranger.seen).toEqual([]);
    expect(proxy.requests.at(-1)?.path).toMatch(/\/v1\/messages\/batches\/msgbatch_\w+\/results$/);
  });

  it('at a foreign origin is asked without the key where the service has no results itself', async () => {
    const message = { type: 'message', content: [{ type: 'text', text: 'from elsewhere' }] };
    const stranger = await startStranger(() => {
      const sent = proxy.requests.map(({ body }) => body).join('');
      const [, id] = /"custom_id":"([^"]+)"/.exec(sent) ?? [];
      return JSON.stringify({ custom_id: id, result: { type: 'succeeded', message } });
    });
    const proxy = await standIn((id) => `${stranger.url}/${id}?signature=secret-of-the-url`);
    const action = { kind: 'status', status: 404 } as const;
    stage.simulator.faults.add({ path: /\/results$/, action, times: 1_000 });
    expect(await askAt(`${proxy.url}/anthropic`)).toBe('from elsewhere');
    expect(stranger.seen).toEqual([expect.stringMatching(/^GET \/msgbatch_\w+\?signature=/)]);
    expect(stranger.seen[0]).not.toContain('sk-ant');
    expect(stranger.seen[0]).not.toContain('authorization');
    expect(stage.simulator.batches()).toHaveLength(1);
  });

  it('at the origin of the service is taken as it is given', async () => {
    const signed = (id: string, own: string) =>
      `${own}/anthropic/v1/messages/batches/${id}/results?signature=a%2Fb`;
    const proxy = await standIn(signed);
    expect(await askAt(`${proxy.url}/anthropic`)).toContain('answer to "one"');
    expect(proxy.requests.at(-1)?.path).toMatch(/\/results\?signature=a%2Fb$/);
  });
});
