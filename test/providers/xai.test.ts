import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../src/index.ts';
import { allOf } from '../support/all-of.ts';
import { ask } from '../support/ask.ts';
import { fastClock } from '../support/programs/parts/fast-clock.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;
let client: OpenAI;

beforeAll(async () => {
  stage = await openStage();
  client = new OpenAI({ apiKey: 'xai-test-key', baseURL: stage.simulator.baseUrl('xai') });
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

function options(given: BatchifyOptions = {}): BatchifyOptions {
  return stage.options({
    hosts: { [stage.simulator.baseUrl('xai')]: 'xai' },
    bypass: 'error',
    ...given,
  });
}

const model = 'grok-4.3';
const say = (content: string) => ask(client, content, model);

function settled(prompts: readonly string[], given?: BatchifyOptions) {
  return batchify(() => Promise.allSettled(prompts.map(say)), options(given));
}

function bodiesThatRan(): unknown[] {
  return stage.simulator.meter.executions.map(({ body }) => body);
}

describe('a call through the batches of xAI', () => {
  it('arrives unchanged and in order, but for the stream', async () => {
    const text =
      `{"model":"${model}","seed":12345678901234567,"temperature":1.0,"top_p":1e-7,` +
      '"2":"two","1":"one","messages":[{"role":"user","content":"Grüße \\u2028 😀 \\"q\\""}],' +
      '"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object",' +
      '"properties":{"b":{"type":"string"},"a":{"type":"number"}}}}}],"tool_choice":"none",' +
      '"reasoning_effort":"low","of_the_future":{"z":[1,{"y":null}]}';
    const url = `${stage.simulator.baseUrl('xai')}/chat/completions`;
    const headers = { authorization: 'Bearer xai-test-key', 'content-type': 'application/json' };
    const send = (body: string) => fetch(url, { method: 'POST', headers, body });
    const files: string[] = [];
    const response = await batchify(
      () => send(`${text},"stream":true,"stream_options":{"include_usage":true}}`),
      options({ cleanup: false }),
    );
    expect(await response.text()).toContain('data: [DONE]');
    const base = stage.simulator.baseUrl('xai');
    const list = (await (await fetch(`${base}/files`, { headers })).json()) as {
      data: { id: string }[];
    };
    for (const { id } of list.data) {
      files.push(await (await fetch(`${base}/files/${id}/content`, { headers })).text());
    }
    expect(files).toHaveLength(1);
    const [line = ''] = files;
    expect(line.endsWith(`"method":"POST","url":"/v1/chat/completions","body":${text}}}\n`)).toBe(
      true,
    );
  });

  it('is answered, as a stream where one was asked for', async () => {
    const [answer, chunks] = await batchify(
      () =>
        Promise.all([
          say('one'),
          client.chat.completions
            .create({ model, messages: [{ role: 'user', content: 'two' }], stream: true })
            .then(allOf),
        ]),
      options(),
    );
    expect(answer).toContain('answer to "one"');
    const streamed = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    expect(streamed).toContain('answer to "two"');
    expect(stage.simulator.batches()).toMatchObject([{ provider: 'xai', requests: 2 }]);
  });

  it('has its answer while another one of its batch is still being worked on', async () => {
    let release = () => {};
    const held = new Promise<undefined>((resolve) => {
      release = () => resolve(undefined);
    });
    stage.simulator.configure({ answer: ({ prompt }) => (prompt === 'slow' ? held : undefined) });
    const scope = batchify(options());
    const calls = ['a', 'slow', 'c'].map((prompt) => scope.run(() => say(prompt)));
    expect(await calls[0]).toContain('answer to "a"');
    expect(await calls[2]).toContain('answer to "c"');
    expect(stage.simulator.batches()).toMatchObject([{ phase: 'in_progress', requests: 3 }]);
    release();
    expect(await calls[1]).toContain('answer to "slow"');
    await scope.close();
    expect(scope.stats).toMatchObject({ answered: 3, batches: { submitted: 1, collected: 1 } });
    expect(stage.simulator.meter.total).toBe(3);
  });

  it('is answered once, though results are read again and again', async () => {
    const readings = () => stage.simulator.countRequests('GET', /\/results$/);
    const anotherReading = () => {
      const before = readings();
      return until(() => readings() > before, 'a reading');
    };
    const prompts = Array.from({ length: 250 }, (_, at) => `q${at}`);
    const scope = batchify(options());
    const readOnce = anotherReading();
    const readTwice = readOnce.then(anotherReading);
    // Each hundred is worked on until the one before it has been read.
    const turns = [undefined, readOnce, readTwice];
    stage.simulator.configure({
      answer: async ({ prompt }) => void (await turns[Math.floor(prompts.indexOf(prompt) / 100)]),
    });
    const answers = await scope.run(() => Promise.all(prompts.map(say)));
    await scope.close();
    for (const [at, answer] of answers.entries()) expect(answer).toContain(`"q${at}"`);
    expect(scope.stats).toMatchObject({ answered: 250, failed: 0, retried: 0 });
    expect(stage.simulator.meter.total).toBe(250);
    // The last reading alone is of three pages.
    expect(readings()).toBeGreaterThan(3);
  });

  it.each([
    [400, OpenAI.BadRequestError],
    [401, OpenAI.AuthenticationError],
    [403, OpenAI.PermissionDeniedError],
    [404, OpenAI.NotFoundError],
    [409, OpenAI.ConflictError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
  ])(
    "that fails with %i raises the SDK's own class, and is not sent again",
    async (status, type) => {
      const [outcome] = await settled([`[[status ${status}]]`], { attempts: 1 });
      const reason = outcome?.status === 'rejected' ? outcome.reason : outcome;
      expect(reason).toBeInstanceOf(type);
      expect(reason).toMatchObject({
        message: expect.stringContaining(`simulated status ${status}`),
      });
      expect(reason.headers.get('x-should-retry')).toBe('false');
      expect(stage.simulator.meter.failed).toBe(1);
    },
  );

  it('that fails inside of a success is told so, with the words of xAI', async () => {
    const [outcome] = await settled(['[[status 503 overloaded]]'], { attempts: 1 });
    expect(outcome).toMatchObject({ status: 'rejected', reason: { status: 503 } });
    expect(String(outcome?.status === 'rejected' && outcome.reason)).toContain('simulated status');
  });

  it('that xAI answers in another shape goes out as it is', async () => {
    const scope = batchify(options({ bypass: 'warn' }));
    const bypassed: string[] = [];
    scope.on('call:bypassed', ({ reason }) => bypassed.push(reason));
    const { output_text: said } = await scope.run(() =>
      client.responses.create({ model, input: 'hello' }),
    );
    await scope.close();
    expect(said).toContain('answer to "hello"');
    expect(bypassed).toEqual(['xAI answers batched responses in the shape of chat completions']);
    expect(stage.simulator.meter.realtime).toBe(1);
  });
});

describe('a batch of xAI', () => {
  it.each(['lost', 'reset'] as const)('whose create was %s is sent once', async (kind) => {
    stage.simulator.configure({ foreignBatches: true });
    stage.simulator.faults.add({ method: 'POST', path: '/v1/batches', action: { kind } });
    // A create that was not accepted is looked for during fifteen seconds.
    const clock = fastClock({ epoch: Date.now(), speed: 100 });
    const given = options({ clock, window: '1s', poll: '1s' });
    const answers = await batchify(() => Promise.all(['a', 'b'].map(say)), given);
    expect(answers).toHaveLength(2);
    expect(stage.simulator.meter.total).toBe(2);
    expect(stage.simulator.meter.executedTwice()).toEqual([]);
    const created = stage.simulator.countRequests('POST', '/v1/batches');
    expect(created).toBe(kind === 'lost' ? 1 : 2);
  });

  it('is cancelled with its scope', async () => {
    stage.simulator.hold();
    // Half a minute, after which a cancel is believed, passes at once.
    const clock = fastClock({ epoch: Date.now(), speed: 100 });
    const scope = batchify(options({ clock, window: '1s', poll: '1s' }));
    const calls = Promise.allSettled(['a', 'b'].map((prompt) => scope.run(() => say(prompt))));
    await until(() => stage.simulator.batches()[0]?.phase === 'in_progress', 'the batch');
    await scope.cancel();
    for (const outcome of await calls) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { status: 499 } });
    }
    await scope.close();
    expect(stage.simulator.countRequests('POST', /^\/v1\/batches\/[^/]+:cancel$/)).toBe(1);
    expect(stage.simulator.meter.total).toBe(0);
  });

  it('that expires keeps what ran, and the rest is sent once more', async () => {
    stage.simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 0.5 });
    const answers = await batchify(() => Promise.all(['a', 'b', 'c', 'd'].map(say)), options());
    expect(answers).toHaveLength(4);
    expect(stage.simulator.meter.total).toBe(4);
    expect(stage.simulator.meter.executedTwice()).toEqual([]);
    expect(stage.simulator.batches()).toMatchObject([{ requests: 4 }, { requests: 2 }]);
  });

  it('that xAI cancels tells its callers why', async () => {
    stage.simulator.configure({ models: ['grok-4.20'] });
    const outcomes = await settled(['a', 'b']);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { status: 400 } });
      const { reason } = outcome as PromiseRejectedResult;
      expect(reason).toBeInstanceOf(OpenAI.BadRequestError);
      expect(reason.message).toContain(`Model ${model} is not supported for batch processing`);
    }
    expect(stage.simulator.countRequests('POST', '/v1/batches')).toBe(1);
  });

  it('with one bad line is sent again without it', async () => {
    const outcomes = await settled(['a', '[[invalid]]', 'c']);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(String((outcomes[1] as PromiseRejectedResult).reason)).toContain('marked as invalid');
    expect(stage.simulator.meter.total).toBe(2);
  });

  it('asks for its own paths only, with the key in its header', async () => {
    await batchify(() => say('a'), options());
    await until(() => stage.simulator.countRequests('DELETE', /^\/v1\/files\//) === 1, 'cleaning');
    const asked = stage.simulator.requests.map(({ method, path }) =>
      `${method} ${path}`.replace(/(batch|file)_\w+/, ':id'),
    );
    expect(new Set(asked)).toEqual(
      new Set([
        'POST /v1/files',
        'POST /v1/batches',
        'GET /v1/batches/:id',
        'GET /v1/batches/:id/results',
        'DELETE /v1/files/:id',
      ]),
    );
    for (const { headers, query } of stage.simulator.requests) {
      expect(headers.authorization).toBe('REDACTED');
      expect(query).not.toContain('xai-test-key');
    }
    expect(bodiesThatRan()).toEqual([{ model, messages: [{ role: 'user', content: 'a' }] }]);
  });
});
