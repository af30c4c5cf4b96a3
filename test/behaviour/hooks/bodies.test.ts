import { request } from 'node:http';
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { received } from '../../support/servers/http-exchange.ts';
import { type RecordingProxy, startRecordingProxy } from '../../support/servers/recording-proxy.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;
let proxy: RecordingProxy;

beforeAll(async () => {
  stage = await openStage();
  proxy = await startRecordingProxy(stage.simulator.url);
});
afterAll(async () => {
  await proxy.close();
  await stage.close();
});
beforeEach(() => stage.simulator.reset());

function batchedBodies(): unknown[] {
  return stage.simulator.meter.executions
    .filter(({ batchId }) => batchId !== null)
    .map(({ body }) => body);
}

describe('every field of a body arrives in the batch', () => {
  it("of Anthropic's messages", async () => {
    const body: Anthropic.MessageCreateParamsNonStreaming = {
      model: 'claude-test',
      max_tokens: 4000,
      system: [
        {
          type: 'text',
          text: 'Be brief. “Übung” 🦊',
          cache_control: { type: 'ephemeral', ttl: '1h' },
        },
      ],
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }],
        },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 't1', name: 'look', input: { q: 1 } }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'found' }] },
      ],
      tools: [
        {
          name: 'look',
          description: 'Looks',
          input_schema: { type: 'object', properties: { z: { type: 'string' }, a: {} } },
          cache_control: { type: 'ephemeral' },
        },
      ],
      tool_choice: { type: 'tool', name: 'look', disable_parallel_tool_use: true },
      thinking: { type: 'enabled', budget_tokens: 2000 },
      metadata: { user_id: 'user-1' },
      stop_sequences: ['\n\nHuman:', 'END'],
      service_tier: 'auto',
    };
    await batchify(() => stage.anthropic().messages.create(body), stage.options());
    expect(batchedBodies()).toEqual([body]);
  });

  it('of a message with sampling parameters under the version that knows them', async () => {
    const body = {
      model: 'claude-test',
      max_tokens: 10,
      messages: [{ role: 'user' as const, content: 'hello' }],
      temperature: 0.25,
      top_p: 0.9,
      top_k: 5,
    };
    await batchify(
      () =>
        stage.anthropic().messages.create(body as Anthropic.MessageCreateParamsNonStreaming, {
          headers: { 'anthropic-version': '2023-06-01' },
        }),
      stage.options(),
    );
    expect(batchedBodies()).toEqual([body]);
    const create = stage.simulator.requests.find(({ method }) => method === 'POST');
    expect(create?.headers['anthropic-version']).toBe('2023-06-01');
  });

  it("of OpenAI's chat completions", async () => {
    const body: OpenAI.ChatCompletionCreateParamsNonStreaming = {
      model: 'gpt-test',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'line\nbreak "quoted" \u2028 🦊' }] },
      ],
      temperature: 0.1,
      seed: 7,
      n: 2,
      logit_bias: { '50256': -100, '11': 5 },
      metadata: { team: 'a' },
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'out', strict: true, schema: { type: 'object', properties: {} } },
      },
      tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }],
      tool_choice: { type: 'function', function: { name: 'look' } },
      user: 'user-1',
    };
    await batchify(() => stage.openai().chat.completions.create(body), stage.options());
    expect(batchedBodies()).toEqual([body]);
  });
});

describe('the bytes of a body survive', () => {
  const awkward = [
    '{"messages":[{"role":"user","content":"caf\\u00e9 caf\u00e9"}],"10":"b","2":"a",',
    '"seed":12345678901234567890,"temperature":1.0,"top_p":1e0,  "zebra":{"b":1,"a":0.1000},',
    '"model":"m-test","max_tokens":16}',
  ].join('');

  async function send(url: string, headers: Record<string, string>, body: string | Uint8Array) {
    const hosts = {
      [`${proxy.url}/openai/v1`]: 'openai',
      [`${proxy.url}/anthropic`]: 'anthropic',
    } as const;
    const before = proxy.requests.length;
    const response = await batchify(
      () => fetch(url, { method: 'POST', headers, body }),
      stage.options({ hosts }),
    );
    expect(response.status).toBe(200);
    expect(response.headers.get('x-batchling-source')).toBe('batch');
    return proxy.requests
      .slice(before)
      .map((recorded) => recorded.body)
      .join('\n');
  }

  const headers = { 'content-type': 'application/json' };

  it.each([
    ['text', awkward],
    ['bytes', Buffer.from(awkward)],
  ])('in the input file of OpenAI, given as %s', async (_kind, body) => {
    const url = `${proxy.url}/openai/v1/chat/completions`;
    const sent = await send(url, { ...headers, authorization: 'Bearer sk-test-key' }, body);
    expect(sent).toContain(`,"body":${awkward}}`);
  });

  it('in the create call of Anthropic', async () => {
    const url = `${proxy.url}/anthropic/v1/messages`;
    const sent = await send(url, { ...headers, 'x-api-key': 'sk-test-key' }, awkward);
    expect(sent).toContain(`,"params":${awkward}}`);
  });

  it('when only `stream: false` is taken out', async () => {
    const url = `${proxy.url}/openai/v1/chat/completions`;
    const body = awkward.replace('"seed"', '"stream":false,"seed"');
    const sent = await send(url, { ...headers, authorization: 'Bearer sk-test-key' }, body);
    expect(sent).toContain('"seed":12345678901234567890,"temperature":1.0,"top_p":1e0,');
    expect(sent).toContain('"10":"b","2":"a",');
    expect(sent).not.toContain('"stream"');
  });
});

describe('memory that a client uses again after its call', () => {
  const url = () => `${stage.simulator.baseUrl('openai')}/chat/completions`;
  const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-test-key' };
  const body = { model: 'gpt-test', messages: [{ role: 'user', content: 'the right one' }] };
  const text = JSON.stringify(body);

  it('does not change what is batched: pieces of node:http, each written into the same buffer', async () => {
    await batchify(async () => {
      const sending = request(url(), { method: 'POST', headers });
      const reply = received(sending);
      const buffer = Buffer.alloc(Math.ceil(text.length / 3));
      for (let at = 0; at < text.length; at += buffer.length) {
        const length = buffer.write(text.slice(at, at + buffer.length));
        const piece = buffer.subarray(0, length);
        await new Promise<void>((resolve) => void sending.write(piece, () => resolve()));
      }
      buffer.fill('x');
      sending.end();
      expect((await reply).status).toBe(200);
    }, stage.options());
    expect(batchedBodies()).toEqual([body]);
  });

  it.each([
    ['bytes', () => Buffer.from(text)],
    ['an ArrayBuffer', () => new TextEncoder().encode(text).buffer],
  ])('does not change what goes out after all: %s of fetch', async (_kind, make) => {
    const bytes = make();
    const response = await batchify(
      () => {
        const asked = fetch(url(), { method: 'POST', headers, body: bytes });
        new Uint8Array(ArrayBuffer.isView(bytes) ? bytes.buffer : bytes).fill(32);
        return asked;
      },
      stage.options({ minBatch: 2 }),
    );
    expect(response.headers.get('x-batchling-source')).toBe('realtime');
    expect(stage.simulator.meter.executions.map((one) => one.body)).toEqual([body]);
  });

  it('does not change a form, which no batch can carry', async () => {
    const form = new URLSearchParams({ model: 'before' });
    await batchify(
      () => {
        const asked = fetch(`${proxy.url}/openai/v1/chat/completions`, {
          method: 'POST',
          body: form,
        });
        form.set('model', 'after');
        return asked;
      },
      stage.options({ hosts: { [`${proxy.url}/openai/v1`]: 'openai' }, bypass: 'ignore' }),
    );
    expect(proxy.requests.at(-1)?.body).toBe('model=before');
  });
});

describe('an answer', () => {
  it('can be read as text, JSON, bytes and stream, and cloned, like any Response', async () => {
    const url = `${stage.simulator.baseUrl('openai')}/chat/completions`;
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'é' }] });
    const headers = { authorization: 'Bearer sk-test-key' };
    const response = await batchify(
      () => fetch(url, { method: 'POST', headers, body }),
      stage.options(),
    );
    expect(response).toBeInstanceOf(Response);
    expect(response.ok).toBe(true);
    expect(response.url).toBe(url);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    expect(response.headers.get('x-batchling-batch-id')).toMatch(/^bl_/);
    expect(response.headers.get('x-batchling-request-id')).toBe(
      stage.simulator.meter.executions[0]?.customId,
    );
    const copies = [response.clone(), response.clone(), response.clone(), response.clone()];
    const [json, bytes, stream, blob] = copies as [Response, Response, Response, Response];
    const text = await response.text();
    expect(text).toContain('é');
    expect(response.bodyUsed).toBe(true);
    await expect(response.text()).rejects.toThrow(TypeError);
    expect(await json.json()).toEqual(JSON.parse(text));
    expect(Buffer.from(await bytes.arrayBuffer()).toString()).toBe(text);
    expect(await new Response(stream.body).text()).toBe(text);
    expect(await (await blob.blob()).text()).toBe(text);
  });
});
