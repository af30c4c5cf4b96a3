import { createAnthropic } from '@ai-sdk/anthropic';
import { generateText } from 'ai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { askClaude } from '../../support/ask.ts';
import { type RecordingProxy, startRecordingProxy } from '../../support/servers/recording-proxy.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;
/** The way to the simulator that shows the bytes. */
let proxy: RecordingProxy;
let base: string;

beforeAll(async () => {
  stage = await openStage();
  proxy = await startRecordingProxy(stage.simulator.url);
  base = `${proxy.url}/anthropic`;
});
afterAll(async () => {
  await proxy.close();
  await stage.close();
});
beforeEach(() => stage.simulator.reset());
afterEach(() => vi.unstubAllEnvs());

const creates = () =>
  proxy.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/batches'));

/** The bytes of the only request of the latest batch. */
function paramsOfLast(): string | undefined {
  const line = /^\{"requests":\[\{"custom_id":"[\w-]{1,64}","params":(.*)\}\]\}$/s;
  return line.exec(creates().at(-1)?.body ?? '')?.[1];
}

const throughProxy = () => stage.options({ hosts: { [base]: 'anthropic' } });

describe('the body of a call', () => {
  const params = {
    model: 'claude-test',
    max_tokens: 1024,
    future_field: { of: ['tomorrow', null, 12345678901234, 0.1, -0, 1e-7, 1e21] },
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Zürich 😀 \u2028 "quoted" \\ back\nline', cache_control: null },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } },
        ],
      },
      { role: 'assistant', content: 'And?' },
      { role: 'user', content: 'go on' },
    ],
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
    tools: [
      {
        name: 'weather',
        description: 'of a city',
        input_schema: {
          type: 'object',
          properties: { z: { type: 'string' }, a: { type: 'array', items: { enum: [2, 10, 1] } } },
          required: ['z'],
        },
      },
      { type: 'web_search_20250305', name: 'web_search', max_uses: 3 },
    ],
    tool_choice: { type: 'none' },
    stop_sequences: ['END', ''],
    thinking: { type: 'enabled', budget_tokens: 1024 },
    metadata: { user_id: 'u-1' },
    service_tier: 'standard_only',
    context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
    mcp_servers: [{ type: 'url', url: 'https://m.example', name: 'm' }],
    container: 'container_1',
    output_config: { effort: 'low' },
    inference_geo: 'eu',
    user_profile_id_of_tomorrow: 'x',
  };

  /** As this client writes it when nobody batches. */
  async function asWritten(call: () => Promise<unknown>): Promise<string> {
    const before = proxy.requests.length;
    await call();
    return proxy.requests[before]?.body ?? '';
  }

  it.each(['messages', 'beta'] as const)(
    'stands in the batch as the official client wrote it (%s)',
    async (kind) => {
      const client = stage.anthropic({ baseURL: base });
      const betas = ['output-300k-2026-03-24', 'context-management-2025-06-27'];
      const call: () => Promise<unknown> =
        kind === 'beta'
          ? () => client.beta.messages.create({ ...params, betas } as never)
          : () => client.messages.create(params as never);
      const written = await asWritten(call);
      await batchify(call, throughProxy());
      expect(written).toContain('"future_field"');
      expect(paramsOfLast()).toBe(written);
      const create = stage.simulator.requests.find(({ path }) => path === '/v1/messages/batches');
      expect(create?.headers['anthropic-beta']).toBe(
        kind === 'beta' ? [...betas].sort().join(',') : undefined,
      );
    },
  );

  it('loses `stream` and nothing else', async () => {
    const client = stage.anthropic({ baseURL: base });
    const { model, max_tokens, ...more } = params;
    const streamed = { model, stream: true, max_tokens, ...more };
    const call = () => client.messages.stream(streamed as never).finalMessage();
    await batchify(call, throughProxy());
    expect(paramsOfLast()).toBe(JSON.stringify({ model, max_tokens, ...more }));
  });

  it('keeps numbers and escapes as they were written', async () => {
    const body =
      '{"model":"claude-test","max_tokens": 64,"temperature":1.0,"top_p":1e-7,"big":12345678901234567890,' +
      '"2":"two","1":"one","messages":[{"role":"user","content":"\\u00fc\\ud83d\\ude00 \\/ é"}]}';
    const headers = { 'x-api-key': 'sk-ant-test-key', 'anthropic-version': '2023-06-01' };
    const response = await batchify(
      () => fetch(`${base}/v1/messages`, { method: 'POST', headers, body }),
      throughProxy(),
    );
    expect(response.status).toBe(200);
    expect(paramsOfLast()).toBe(body);
  });
});

describe('answers', () => {
  it('come back whole and streamed, each to its caller', async () => {
    const client = stage.anthropic();
    const asked = (content: string) => ({
      model: 'claude-test',
      max_tokens: 64,
      messages: [{ role: 'user' as const, content }],
    });
    const [whole, streamed, collected] = await batchify(
      () =>
        Promise.all([
          client.messages.create(asked('one')),
          client.messages.stream(asked('two')).finalMessage(),
          client.messages.stream(asked('three')).finalText(),
        ]),
      stage.options(),
    );
    expect(whole.content).toMatchObject([{ text: expect.stringContaining('answer to "one"') }]);
    expect(streamed.content).toMatchObject([{ text: expect.stringContaining('answer to "two"') }]);
    expect(streamed.usage.service_tier).toBe('batch');
    expect(collected).toContain('answer to "three"');
    expect(stage.simulator.batches()).toMatchObject([{ requests: 3 }]);
  });
});

describe('a call that a batch would refuse', () => {
  it.each([
    { speed: 'fast' },
    { fallbacks: [{ model: 'claude-b', speed: 'fast' }] },
    { max_tokens: 0 },
    { thread: { type: 'create' } },
  ])('goes out by itself: %j', async (change) => {
    const client = stage.anthropic();
    const messages = [{ role: 'user', content: 'hi' }];
    const body = { model: 'claude-test', max_tokens: 64, messages, ...change };
    const scope = batchify(stage.options({ bypass: 'ignore' }));
    const reasons: string[] = [];
    scope.on('call:bypassed', ({ reason }) => reasons.push(reason));
    await scope.run(() => client.messages.create(body as never));
    await scope.close();
    expect(reasons).toEqual([expect.stringContaining('refused inside a batch')]);
    expect(stage.simulator.meter).toMatchObject({ realtime: 1, batched: 0 });
  });
});

describe('calls share a batch', () => {
  /** How many batches these calls need, each asked twice. */
  async function batchesOf(callers: readonly ((prompt: string) => Promise<unknown>)[]) {
    const prompts = ['first', 'second'];
    await batchify(
      () => Promise.all(callers.flatMap((ask, at) => prompts.map((each) => ask(`${each} ${at}`)))),
      stage.options(),
    );
    expect(stage.simulator.meter.total).toBe(2 * callers.length);
    return stage.simulator.batches().map(({ requests }) => requests);
  }

  const withHeaders = (headers: Record<string, string>) => (prompt: string) =>
    askClaude(stage.anthropic({ defaultHeaders: headers }), prompt);

  it.each([
    ['anthropic-version', '2023-06-01', '2026-10-21'],
    ['anthropic-beta', 'a-2026-01-01', 'a-2026-01-01,b-2026-01-01'],
    ['anthropic-workspace-id', 'wrkspc_1', 'wrkspc_2'],
    ['anthropic-user-profile-id', 'uprof_1', 'uprof_2'],
  ])('never with another %s', async (name, one, other) => {
    const callers = [withHeaders({ [name]: one }), withHeaders({ [name]: other })];
    expect(await batchesOf(callers)).toEqual([2, 2]);
    const sent = stage.simulator.requests
      .filter(({ method, path }) => method === 'POST' && path === '/v1/messages/batches')
      .map(({ headers }) => headers[name]);
    expect(sent.sort()).toEqual([one, other].sort());
  });

  it('with the same betas in another order', async () => {
    const callers = ['a,b', 'b, a,b'].map((betas) => withHeaders({ 'anthropic-beta': betas }));
    expect(await batchesOf(callers)).toEqual([4]);
  });

  it('with the same key in the other header', async () => {
    const apiKey = 'sk-ant-test-key';
    const vercel = createAnthropic({
      apiKey,
      baseURL: `${stage.simulator.baseUrl('anthropic')}/v1`,
    });
    const model = vercel('claude-test');
    const inOwnHeader = async (prompt: string) =>
      (await generateText({ model, prompt, maxOutputTokens: 64, maxRetries: 0 })).text;
    const asBearer = withHeaders({ 'anthropic-version': '2023-06-01' });
    expect(await batchesOf([inOwnHeader, asBearer])).toEqual([4]);
  });
});

describe('an answer of an earlier run', () => {
  /** Whether the second of two runs on one ledger pays for the same question again. */
  async function isPaidAgain(one: Record<string, string>, other: Record<string, string>) {
    const options = stage.options();
    for (const [run, defaultHeaders] of [one, other].entries()) {
      vi.stubEnv('BATCHLING_RUN', `run-${run}`);
      await batchify(() => askClaude(stage.anthropic({ defaultHeaders }), 'same'), options);
    }
    return stage.simulator.meter.total === 2;
  }

  it.each([
    ['anthropic-version', '2023-06-01', '2026-10-21'],
    ['anthropic-beta', 'a', 'b'],
  ])('is not taken for a call with another %s, which may change it', async (name, one, other) => {
    expect(await isPaidAgain({ [name]: one }, { [name]: other })).toBe(true);
  });

  it.each([
    ['anthropic-beta', 'a,b', 'b,a'],
    // These two say who asks, as the key does.
    ['anthropic-workspace-id', 'wrkspc_1', 'wrkspc_2'],
    ['anthropic-user-profile-id', 'uprof_1', 'uprof_2'],
  ])('is taken for a call with %s: %s and then %s', async (name, one, other) => {
    expect(await isPaidAgain({ [name]: one }, { [name]: other })).toBe(false);
  });
});

describe('requests of ours', () => {
  it('go to the paths of message batches, under the key and a version', async () => {
    await batchify(() => askClaude(stage.anthropic(), 'one'), stage.options());
    const { requests } = stage.simulator;
    const paths = requests.map(
      ({ method, path }) => `${method} ${path.replace(/msgbatch_\w+/, 'id')}`,
    );
    expect(new Set(paths)).toEqual(
      new Set([
        'GET /v1/messages/batches',
        'POST /v1/messages/batches',
        'GET /v1/messages/batches/id',
        'GET /v1/messages/batches/id/results',
      ]),
    );
    for (const { headers } of requests) {
      expect(headers).toMatchObject({
        authorization: expect.stringContaining('REDACTED'),
        'anthropic-version': expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      });
      expect(headers).not.toHaveProperty('x-api-key');
    }
  });
});
