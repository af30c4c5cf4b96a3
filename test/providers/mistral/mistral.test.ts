import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { startRecordingProxy } from '../../support/servers/recording-proxy.ts';
import { apiKey, ask, type MistralStage, model, openMistral } from './mistral-stage.ts';

let stage: MistralStage;

beforeAll(async () => {
  stage = await openMistral();
});
beforeEach(() => stage.simulator.reset());
afterAll(() => stage.close());

const messages = [{ role: 'user' as const, content: 'hi' }];

describe('the official SDK, endpoint by endpoint', () => {
  const client = () => stage.client();
  const document = { type: 'document_url' as const, documentUrl: 'https://a.example/b.pdf' };
  const calls: Record<string, () => Promise<unknown>> = {
    '/v1/chat/completions': () => client().chat.complete({ model, messages }),
    '/v1/embeddings': () => client().embeddings.create({ model, inputs: ['a', 'b'] }),
    '/v1/fim/completions': () => client().fim.complete({ model, prompt: 'hi' }),
    '/v1/moderations': () => client().classifiers.moderate({ model, inputs: ['a'] }),
    '/v1/chat/moderations': () => client().classifiers.moderateChat({ model, inputs: messages }),
    '/v1/ocr': () => client().ocr.process({ model, document }),
    '/v1/classifications': () => client().classifiers.classify({ model, inputs: 'a' }),
    '/v1/chat/classifications': () =>
      client().classifiers.classifyChat({ model, input: { messages } }),
    '/v1/conversations': () =>
      client().beta.conversations.start({ model, inputs: 'hi', store: false }),
  };

  it.each(Object.keys(calls))('%s is answered as it is online, from a batch', async (endpoint) => {
    const call = calls[endpoint] as () => Promise<unknown>;
    const online = await call();
    const batched = await batchify(call, stage.options());
    expect(stage.simulator.meter).toMatchObject({ realtime: 1, batched: 1 });
    expect(stage.simulator.meter.executions[1]).toMatchObject({ endpoint, model });
    expect(shapeOf(batched)).toEqual(shapeOf(online));
  });

  it('a transcription that says where the sound is, is answered from a batch', async () => {
    const answer = await batchify(async () => {
      const response = await fetch(`${stage.serverURL}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, file_url: 'https://a.example/chat.wav' }),
      });
      return response.json();
    }, stage.options());
    expect(answer).toMatchObject({ text: expect.stringContaining('https://a.example/chat.wav') });
    expect(stage.simulator.meter).toMatchObject({ batched: 1, realtime: 0 });
  });

  it('what cannot be batched goes out at full price, and says why', async () => {
    const scope = batchify(stage.options({ bypass: 'ignore' }));
    const reasons: string[] = [];
    scope.on('call:bypassed', ({ reason }) => reasons.push(reason));
    const { conversations } = client().beta;
    await scope.run(async () => {
      await conversations.start({ model, inputs: 'hi' });
      await conversations.start({ agentId: 'ag', inputs: 'hi' }).catch(() => undefined);
      await client()
        .audio.transcriptions.complete({ model, fileUrl: 'https://a.example/a.wav' })
        .catch(() => undefined);
    });
    await scope.close();
    expect(reasons).toEqual([
      expect.stringContaining('`store: false` helps'),
      expect.stringContaining('no agent'),
      expect.stringContaining('JSON'),
    ]);
    expect(stage.simulator.batches()).toEqual([]);
  });
});

/** The names of all fields, whatever is in them. */
function shapeOf(value: unknown): unknown {
  if (value instanceof Date || typeof value !== 'object' || value === null) return typeof value;
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]));
}

describe('a body', () => {
  it('arrives unchanged and in its order, without its model and its stream', async () => {
    const proxy = await startRecordingProxy(stage.simulator.url);
    const head = '"temperature":1.0,"top_p":1e-7,"2":"two","1":[12345678901234567890]';
    const tools =
      '"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"z":{"type":"integer"},"a":{}}}}}]';
    const rest = `"messages":[{"role":"user","content":"Grüße 🌍 \\u00e4\\n\\"q\\""}],${tools},"tool_choice":"none","future":{"b":null,"a":-0.0}`;
    await batchify(
      async () => {
        await fetch(`${proxy.url}/mistral/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}` },
          body: `{${head},"model":"${model}","stream":false,${rest}}`,
        });
      },
      stage.options({ hosts: { [`${proxy.url}/mistral`]: 'mistral' }, tags: { team: 'é' } }),
    );
    const create = proxy.requests.find(({ method }) => method === 'POST')?.body ?? '';
    await proxy.close();
    expect(create).toContain(`"body":{${head},${rest}}}]}`);
    expect(JSON.parse(create)).toMatchObject({
      endpoint: '/v1/chat/completions',
      model,
      timeout_hours: 24,
      metadata: { team: 'é', batchling: expect.stringMatching(/^bl_/) },
    });
  });

  it('of each model goes into a job of that model', async () => {
    const client = stage.client();
    await batchify(
      () =>
        Promise.all(['a', 'b', 'a'].map((name) => client.chat.complete({ model: name, messages }))),
      stage.options(),
    );
    const models = stage.simulator.meter.executions.map((one) => `${one.batchId} ${one.model}`);
    expect(new Set(models).size).toBe(2);
    expect(
      stage.simulator
        .batches()
        .map(({ requests }) => requests)
        .sort(),
    ).toEqual([1, 2]);
  });

  it('can wait longer if the user says so', async () => {
    const proxy = await startRecordingProxy(stage.simulator.url);
    const hosts = { [`${proxy.url}/mistral`]: 'mistral' } as const;
    const client = stage.client(`${proxy.url}/mistral`);
    await batchify(() => ask(client, 'hi'), stage.options({ hosts, completionWindow: '6d' }));
    await proxy.close();
    const create = proxy.requests.find(({ method }) => method === 'POST')?.body ?? '{}';
    expect(JSON.parse(create)).toMatchObject({ timeout_hours: 144 });
  });
});

describe('a stream', () => {
  it.each(['chat', 'fim'] as const)('of %s is told as the SDK reads it', async (kind) => {
    const client = stage.client();
    const open = () =>
      kind === 'chat'
        ? client.chat.stream({ model, messages })
        : client.fim.stream({ model, prompt: 'hi' });
    const { text, reason, tokens } = await batchify(async () => {
      let told = '';
      let last: unknown;
      let total = 0;
      for await (const { data } of await open()) {
        told += String(data.choices[0]?.delta.content ?? '');
        last = data.choices[0]?.finishReason;
        total += data.usage?.totalTokens ?? 0;
      }
      return { text: told, reason: last, tokens: total };
    }, stage.options());
    expect(text).toContain('answer to "hi"');
    expect([reason, tokens > 0]).toEqual(['stop', true]);
    expect(stage.simulator.meter).toMatchObject({ batched: 1, realtime: 0 });
  });

  it('of tool calls is told as the SDK reads it', async () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } } };
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }];
    const client = stage.client();
    const calls = await batchify(async () => {
      const found: unknown[] = [];
      const asked = { model, messages, tools, toolChoice: 'any' as const };
      for await (const { data } of await client.chat.stream(asked)) {
        found.push(...(data.choices[0]?.delta.toolCalls ?? []));
      }
      return found;
    }, stage.options());
    expect(calls).toMatchObject([{ function: { name: 'weather' }, index: 0 }]);
  });
});

describe('the traffic of a batch', () => {
  it('goes to the documented paths, with the key as the SDK sends it', async () => {
    const client = stage.client();
    await batchify(
      () => Promise.all(['one', 'two'].map((one) => ask(client, one))),
      stage.options(),
    );
    const asked = stage.simulator.requests.map(({ method, path }) => `${method} ${path}`);
    const [{ id = '' } = {}] = stage.simulator.batches();
    expect(asked.slice(0, 2)).toEqual(['GET /v1/batch/jobs', 'POST /v1/batch/jobs']);
    const others = asked.slice(2).map((line) => line.replace(/files\/[^/]+/, 'files/:id'));
    expect(new Set(others)).toEqual(
      new Set([`GET /v1/batch/jobs/${id}`, 'GET /v1/files/:id/content']),
    );
    const accounts = new Set(stage.simulator.requests.map(({ account }) => account));
    expect([...accounts]).toEqual([expect.any(String)]);
    for (const { headers } of stage.simulator.requests) {
      expect(headers.authorization).toBe('REDACTED');
    }
  });
});
