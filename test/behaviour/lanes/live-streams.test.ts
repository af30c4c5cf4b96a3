import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterEach(() => {
  vi.unstubAllEnvs();
  stage.simulator.reset();
});
afterAll(() => stage.close());

const model = 'gpt-5-mini';
const messages = [{ role: 'user' as const, content: 'cat' }];

const chunk = (delta: object, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model,
  service_tier: 'flex',
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const pieces = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Hel' }),
  chunk({ content: 'l\u2028o' }),
  chunk({
    tool_calls: [
      { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a' } },
    ],
  }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '":1}' } }] }),
  chunk({}, { finish_reason: 'tool_calls' }),
  { ...chunk({}), choices: [], usage },
];

/** Sends one piece of its stream whenever it is told to. */
async function startServer(streamed: readonly object[] = pieces) {
  const bodies: Record<string, unknown>[] = [];
  const paths: (string | undefined)[] = [];
  let release: () => void = () => undefined;
  let breaksOff = false;
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    bodies.push(JSON.parse(text));
    paths.push(request.url);
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req_1' });
    response.write(eventsOf(streamed.slice(0, 2)));
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    if (breaksOff) {
      response.destroy();
      return;
    }
    response.end(`${eventsOf(streamed.slice(2))}${streamed === pieces ? 'data: [DONE]\n\n' : ''}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const baseURL = `http://127.0.0.1:${port}/v1`;
  return {
    baseURL,
    bodies,
    paths,
    goOn: () => release(),
    breakOff() {
      breaksOff = true;
      release();
    },
  };
}

function eventsOf(told: readonly object[]): string {
  return told.map((piece) => `data: ${JSON.stringify(piece)}\n\n`).join('');
}

function launch<T>(run: string, work: () => Promise<T>, options: object): Promise<T> {
  vi.stubEnv('BATCHLING_RUN', run);
  return batchify(work, options);
}

describe('a stream in a lane of ordinary calls', () => {
  it('is passed on as it comes, stored when it is complete, and told again by the ledger', async () => {
    const { baseURL, bodies, goOn } = await startServer();
    const client = new OpenAI({ apiKey: 'sk-1', baseURL, maxRetries: 0 });
    const options = stage.options({ lane: 'flex', hosts: { [baseURL]: 'openai' } });
    const texts = async (isFirst: boolean) => {
      const asked = client.chat.completions.create({ model, messages, stream: true });
      const { data: stream, request_id: id } = await asked.withResponse();
      expect(id).toBe('req_1');
      let text = '';
      let tool = '';
      let chunks = 0;
      for await (const { choices } of stream) {
        chunks += 1;
        text += choices[0]?.delta.content ?? '';
        tool += choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? '';
        // The server sends no more before this piece was read.
        if (isFirst && text === 'Hel') goOn();
      }
      return { text, tool, chunks };
    };
    const first = await launch('first', () => texts(true), options);
    // The chunk with the usage is ours: the client has not asked for it.
    expect(first).toEqual({ text: 'Hell\u2028o', tool: '{"a":1}', chunks: 6 });
    expect(bodies[0]).toMatchObject({ stream: true, service_tier: 'flex' });
    const again = await launch('second', () => texts(false), options);
    expect(again).toMatchObject({ text: 'Hell\u2028o', tool: '{"a":1}' });
    const whole = await launch(
      'third',
      () => client.chat.completions.create({ model, messages }),
      options,
    );
    expect(whole.choices[0]?.message).toMatchObject({ role: 'assistant', content: 'Hell\u2028o' });
    expect(whole.choices[0]?.message.tool_calls).toEqual([
      { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
    ]);
    expect(whole.usage).toEqual(usage);
    expect(bodies).toHaveLength(1);
  });

  it('of Gemini is passed on as it comes, too, and stored when it is complete', async () => {
    const part = (text: string, more: object = {}) => ({
      candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...more }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
      modelVersion: 'gemini-test',
    });
    const streamed = [part('Hel'), part('l'), part('o', { finishReason: 'STOP' })];
    const { baseURL, bodies, paths, goOn } = await startServer(streamed);
    const base = baseURL.replace('/v1', '');
    const client = new GoogleGenAI({ apiKey: 'k-1', httpOptions: { baseUrl: base } });
    const options = stage.options({ lane: 'flex', hosts: { [base]: 'google' } });
    const asked = { model: 'gemini-test', contents: 'cat' };
    const text = async (isFirst: boolean) => {
      let told = '';
      for await (const piece of await client.models.generateContentStream(asked)) {
        told += piece.text;
        if (isFirst && told === 'Hell') goOn();
      }
      return told;
    };
    expect(await launch('first', () => text(true), options)).toBe('Hello');
    expect(bodies[0]).toMatchObject({ serviceTier: 'flex' });
    expect(paths).toEqual(['/v1beta/models/gemini-test:streamGenerateContent?alt=sse']);
    expect(await launch('second', () => text(false), options)).toBe('Hello');
    const whole = await launch('third', () => client.models.generateContent(asked), options);
    expect(whole.candidates?.[0]?.content?.parts).toEqual([{ text: 'Hello' }]);
    expect(bodies).toHaveLength(1);
  });

  it('that breaks off breaks off for its caller, and is not stored', async () => {
    const { baseURL, bodies, breakOff, goOn } = await startServer();
    const client = new OpenAI({ apiKey: 'sk-1', baseURL, maxRetries: 0 });
    const options = stage.options({ lane: 'realtime', hosts: { [baseURL]: 'openai' } });
    const read = async (onPiece: () => void) => {
      const stream = await client.chat.completions.create({ model, messages, stream: true });
      for await (const { choices } of stream) if (choices[0]?.delta.content === 'Hel') onPiece();
    };
    await expect(launch('first', () => read(breakOff), options)).rejects.toThrow();
    const second = launch('second', () => read(goOn), options);
    await expect(second).rejects.toThrow();
    expect(bodies).toHaveLength(2);
  });

  it('is waited for by its scope: a program that has only its head does not end before it is stored', async () => {
    const { baseURL, bodies, goOn } = await startServer();
    const client = new OpenAI({ apiKey: 'sk-1', baseURL, maxRetries: 0 });
    const hosts = { [baseURL]: 'openai' } as const;
    // The engine of another store would be closed with the scope, which waits a moment for what is under way.
    const scope = batchify(stage.options({ lane: 'flex', hosts, store: ':memory:' }));
    await scope.run(() => client.chat.completions.create({ model, messages, stream: true }));
    let isClosed = false;
    const closing = scope.close().then(() => {
      isClosed = true;
    });
    // As many turns of the event loop as a request takes, and more.
    await fetch(`${stage.simulator.baseUrl('openai')}/models`);
    expect(isClosed).toBe(false);
    goOn();
    await closing;
    expect(bodies).toHaveLength(1);
    expect(scope.stats).toMatchObject({ answered: 1, flex: 1, failed: 0 });
  });

  it('ends at once for a client that aborts it, and is stored all the same', async () => {
    const { baseURL, bodies, goOn } = await startServer();
    const client = new OpenAI({ apiKey: 'sk-1', baseURL, maxRetries: 0 });
    const options = stage.options({ lane: 'flex', hosts: { [baseURL]: 'openai' } });
    await launch(
      'first',
      async () => {
        const stream = client.chat.completions.stream({ model, messages });
        stream.on('content', () => stream.abort());
        await expect(stream.done()).rejects.toThrow('aborted');
        goOn();
      },
      options,
    );
    const asking = () => client.chat.completions.create({ model, messages });
    const again = await launch('second', asking, options);
    expect(again.choices[0]?.message.content).toBe('Hell\u2028o');
    expect(bodies).toHaveLength(1);
  });

  it('is ended by cancel(), for its client and on the wire', async () => {
    const { baseURL } = await startServer();
    const client = new OpenAI({ apiKey: 'sk-1', baseURL, maxRetries: 0 });
    const scope = batchify(stage.options({ lane: 'flex', hosts: { [baseURL]: 'openai' } }));
    await scope.run(async () => {
      const stream = await client.chat.completions.create({ model, messages, stream: true });
      const reading = (async () => {
        for await (const _ of stream) await scope.cancel();
      })();
      await expect(reading).rejects.toThrow();
    });
    await scope.close();
    expect(scope.stats.failed).toBe(1);
  });

  it('of responses is priced by the tier of its last event', async () => {
    const scope = batchify(stage.options({ lane: 'flex' }));
    const text = await scope.run(async () => {
      const stream = stage.openai().responses.stream({ model, input: 'cat' });
      return (await stream.finalResponse()).output_text;
    });
    await scope.close();
    expect(text).toContain('"cat"');
    expect(scope.stats).toMatchObject({ answered: 1, flex: 1, failed: 0 });
    expect(scope.stats.dollars.saved).toBeGreaterThan(0);
  });
});
