import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../src/index.ts';
import { allOf } from '../support/all-of.ts';
import { ask } from '../support/ask.ts';
import { startRecordingProxy } from '../support/servers/recording-proxy.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;
let client: OpenAI;

beforeAll(async () => {
  stage = await openStage();
  client = new OpenAI({ apiKey: 'sk_test_key', baseURL: stage.simulator.baseUrl('sference') });
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

function options(given: BatchifyOptions = {}): BatchifyOptions {
  return stage.options({
    hosts: { [stage.simulator.baseUrl('sference')]: 'sference' },
    bypass: 'error',
    ...given,
  });
}

const model = 'org/model';
const say = (content: string) => ask(client, content, model);

function settled(prompts: readonly string[], given?: BatchifyOptions) {
  return batchify(() => Promise.allSettled(prompts.map(say)), options(given));
}

describe('a call through the batches of sference', () => {
  it('arrives unchanged and in order, but for the stream', async () => {
    const text =
      `{"model":"${model}","seed":12345678901234567,"temperature":1.0,"top_p":1e-7,` +
      '"2":"two","1":"one","messages":[{"role":"user","content":"Grüße \\u2028 😀 \\"q\\""}],' +
      '"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object",' +
      '"properties":{"b":{"type":"string"},"a":{"type":"number"}}}}}],"tool_choice":"none",' +
      '"of_the_future":{"z":[1,{"y":null}]}';
    const proxy = await startRecordingProxy(stage.simulator.url);
    const base = `${proxy.url}/sference/v1`;
    const response = await batchify(
      () =>
        fetch(`${base}/chat/completions`, {
          method: 'POST',
          headers: { authorization: 'Bearer sk_test_key', 'content-type': 'application/json' },
          body: `${text},"stream":true,"stream_options":{"include_usage":true}}`,
        }),
      options({ hosts: { [base]: 'sference' } }),
    );
    expect(await response.text()).toContain('data: [DONE]');
    await proxy.close();
    const creates = proxy.requests.filter(({ method }) => method === 'POST');
    expect(creates.map(({ path }) => path)).toEqual(['/sference/v1/batches']);
    const [{ body } = { body: '' }] = creates;
    expect(body.startsWith('{"window":"24h","requests":[{"custom_id":"')).toBe(true);
    expect(body.endsWith(`","body":${text}}}]}`)).toBe(true);
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
    expect(stage.simulator.batches()).toMatchObject([{ provider: 'sference', requests: 2 }]);
  });

  it.each([
    [400, OpenAI.BadRequestError],
    [401, OpenAI.AuthenticationError],
    [403, OpenAI.PermissionDeniedError],
    [404, OpenAI.NotFoundError],
    [409, OpenAI.ConflictError],
    [413, OpenAI.APIError],
    [422, OpenAI.UnprocessableEntityError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
  ])("that fails with the words of %i raises the SDK's own class, once", async (status, type) => {
    const [outcome] = await settled([`[[status ${status}]]`], { attempts: 1 });
    const reason = outcome?.status === 'rejected' ? outcome.reason : outcome;
    expect(reason).toBeInstanceOf(type);
    const message = expect.stringContaining(`simulated status ${status}`);
    expect(reason).toMatchObject({ status, message });
    expect(reason.headers.get('x-should-retry')).toBe('false');
    expect(stage.simulator.meter.failed).toBe(1);
  });

  it('that sference answers in another shape goes out as it is', async () => {
    const scope = batchify(options({ bypass: 'ignore' }));
    const bypassed: string[] = [];
    scope.on('call:bypassed', ({ reason }) => bypassed.push(reason));
    const { output_text: said } = await scope.run(() =>
      client.responses.create({ model, input: 'hello' }),
    );
    await scope.close();
    expect(said).toContain('answer to "hello"');
    expect(bypassed).toEqual([
      'sference answers batched responses in the shape of chat completions',
    ]);
  });
});

describe('a batch of sference', () => {
  it('whose create was lost is found among those of strangers, and nothing runs twice', async () => {
    stage.simulator.configure({ foreignBatches: true });
    const action = { kind: 'lost' } as const;
    stage.simulator.faults.add({ method: 'POST', path: '/v1/batches', action });
    const answers = await batchify(() => Promise.all(['a', 'b'].map(say)), options());
    expect(answers).toHaveLength(2);
    expect(stage.simulator.meter.total).toBe(2);
    expect(stage.simulator.countRequests('POST', '/v1/batches')).toBe(1);
  });

  it('is cancelled with its scope', async () => {
    stage.simulator.hold();
    const scope = batchify(options());
    const calls = Promise.allSettled(['a', 'b'].map((prompt) => scope.run(() => say(prompt))));
    await until(() => stage.simulator.batches()[0]?.phase === 'in_progress', 'the batch');
    await scope.cancel();
    for (const outcome of await calls) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { status: 499 } });
    }
    await scope.close();
    expect(stage.simulator.countRequests('POST', /^\/v1\/batches\/[^/]+\/cancel$/)).toBe(1);
    expect(stage.simulator.meter.total).toBe(0);
  });

  it('that runs out of time keeps what ran, and the rest is sent again', async () => {
    stage.simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 0.5 });
    const answers = await batchify(() => Promise.all(['a', 'b', 'c', 'd'].map(say)), options());
    expect(answers).toHaveLength(4);
    expect(stage.simulator.meter.total).toBe(4);
    expect(stage.simulator.meter.executedTwice()).toEqual([]);
    expect(stage.simulator.batches()).toMatchObject([{ requests: 4 }, { requests: 2 }]);
  });

  it('that is refused tells its callers why', async () => {
    stage.simulator.configure({ models: ['org/another'] });
    for (const outcome of await settled(['a', 'b'])) {
      const { reason } = outcome as PromiseRejectedResult;
      expect(reason).toBeInstanceOf(OpenAI.BadRequestError);
      expect(reason.message).toContain('Unknown model: org/model');
    }
    expect(stage.simulator.countRequests('POST', '/v1/batches')).toBe(1);
  });

  it('with one bad request is sent again without it', async () => {
    const outcomes = await settled(['a', '[[invalid]]', 'c']);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const { reason } = outcomes[1] as PromiseRejectedResult;
    expect(reason).toBeInstanceOf(OpenAI.BadRequestError);
    expect(reason.message).toContain('marked as invalid');
    expect(stage.simulator.meter.total).toBe(2);
  });

  it('asks for its own paths only, with the key in its header', async () => {
    await batchify(() => say('a'), options());
    const [batch] = stage.simulator.batches();
    const asked = stage.simulator.requests.map(({ method, path, query }) =>
      `${method} ${path}${query}`.replace(batch?.id ?? '', ':id'),
    );
    expect(new Set(asked)).toEqual(
      new Set([
        'GET /v1/batches',
        'POST /v1/batches',
        'GET /v1/batches/:id',
        'GET /v1/batches/:id/results.jsonl',
      ]),
    );
    for (const { headers } of stage.simulator.requests) {
      expect(headers.authorization).toBe('REDACTED');
    }
  });
});
