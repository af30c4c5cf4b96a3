import { request } from 'node:http';
import axios from 'axios';
import { APIError } from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type BatchifyOptions,
  type BatchingContext,
  batchify,
  realtime,
} from '../../../src/index.ts';
import { ask, askClaude, chatRequest } from '../../support/ask.ts';
import { bypassesOf, collectWarnings } from '../../support/escaping.ts';
import { received } from '../../support/servers/http-exchange.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let warned: ReturnType<typeof collectWarnings>;

// A simulator for each test: warnings are told once for each host.
beforeEach(async () => {
  stage = await openStage();
  warned = collectWarnings();
});
afterEach(async () => {
  warned.stop();
  await stage.close();
});

/** A scope that nobody has told of the simulator. */
function openScope(given: BatchifyOptions = {}) {
  return batchify(stage.options({ hosts: {}, ...given }));
}

const openaiUrl = (path: string) => `${stage.simulator.baseUrl('openai')}${path}`;

/** Warnings come a tick later; one of our own making comes after all others. */
async function warnings(): Promise<string[]> {
  process.emitWarning('the last', { type: 'BatchlingWarning' });
  await until(() => warned.warnings.includes('the last'), 'the warning');
  return warned.warnings.splice(0).slice(0, -1);
}

const byFetch = async (url: string, json: unknown, headers: Record<string, string> = {}) => {
  const { body: _, ...post } = chatRequest('', headers);
  const response = await fetch(url, { ...post, body: JSON.stringify(json) });
  return { status: response.status, body: await response.text() };
};

const byNodeHttp = async (url: string, json: unknown, headers: Record<string, string> = {}) => {
  const { body: _, ...post } = chatRequest('', headers);
  return received(request(url, post).end(JSON.stringify(json)));
};

const clients: [name: string, send: typeof byFetch][] = [
  ['fetch', byFetch],
  ['node:http', byNodeHttp as typeof byFetch],
];

const chat = { model: 'gpt-test', messages: [{ role: 'user', content: 'hello' }] };

describe('an LLM call to a host that nobody named', () => {
  it('is reported once, with the hosts entry that captures it', async () => {
    const scope = openScope();
    const bypasses = bypassesOf(scope);
    const client = stage.openai();
    expect(await scope.run(() => Promise.all([ask(client, 'a'), ask(client, 'b')]))).toHaveLength(
      2,
    );
    await scope.run(() => client.embeddings.create({ model: 'm', input: 'text' }));
    await scope.close();
    const [warning, ...more] = await warnings();
    const base = stage.simulator.baseUrl('openai');
    expect(warning).toContain(`hosts: { '${base}': 'openai' }`);
    expect(warning).toContain('realtime()');
    expect(more).toEqual([]);
    expect(bypasses.map(({ url }) => url)).toEqual([
      `${base}/chat/completions`,
      `${base}/chat/completions`,
      `${base}/embeddings`,
    ]);
    expect(scope.stats).toMatchObject({ captured: 0, bypassed: 3 });
    const cured = batchify(stage.options({ hosts: { [base]: 'openai' } }));
    await cured.run(() => ask(client, 'c'));
    await cured.close();
    expect(cured.stats).toMatchObject({ captured: 1, bypassed: 0 });
  });

  it('is reported for Anthropic with the base that its SDK is given', async () => {
    const scope = openScope();
    await scope.run(() => askClaude(stage.anthropic(), 'hello'));
    await scope.close();
    const base = stage.simulator.baseUrl('anthropic');
    expect(await warnings()).toEqual([
      expect.stringContaining(`hosts: { '${base}': 'anthropic' }`),
    ]);
    const cured = batchify(stage.options({ hosts: { [base]: 'anthropic' } }));
    await cured.run(() => askClaude(stage.anthropic(), 'hello'));
    await cured.close();
    expect(cured.stats.captured).toBe(1);
  });

  it('is reported for clients on top of node:http', async () => {
    const scope = openScope();
    const { status } = await scope.run(() =>
      axios.post(openaiUrl('/embeddings'), { model: 'm', input: 'x' }, chatRequest('')),
    );
    await scope.close();
    expect(status).toBe(200);
    expect(scope.stats.bypassed).toBe(1);
    expect(await warnings()).toHaveLength(1);
  });

  it('is reported without a hosts entry where no batcher speaks its API', async () => {
    const url = openaiUrl('/projects/p/publishers/anthropic/models/claude:rawPredict');
    const scope = openScope();
    await scope.run(() => byFetch(url, { messages: [] }));
    await scope.close();
    const [warning] = await warnings();
    expect(warning).toContain('Vertex AI');
    expect(warning).not.toContain('hosts:');
  });

  it.each(clients)('by %s is held back where bypasses are errors', async (_name, send) => {
    const scope = openScope({ bypass: 'error' });
    const { status, body } = await scope.run(() => send(openaiUrl('/chat/completions'), chat));
    await scope.close();
    expect([status, stage.simulator.meter.total]).toEqual([400, 0]);
    const { error } = JSON.parse(body);
    expect(error.type).toBe('batchling_unsupported');
    expect(error.message).toContain("': 'openai' }");
    expect(scope.stats).toMatchObject({ captured: 0, bypassed: 1 });
  });

  it("held back raises its SDK's own error, once", async () => {
    const scope = openScope({ bypass: 'error' });
    const asked = scope.run(() => ask(stage.openai(), 'hello'));
    await expect(asked).rejects.toThrow(APIError);
    await expect(asked).rejects.toMatchObject({ status: 400, type: 'batchling_unsupported' });
    await scope.close();
    expect(scope.stats.bypassed).toBe(1);
  });

  it.each(clients)(
    'by %s is counted without a warning where bypasses are ignored',
    async (_n, send) => {
      const scope = openScope({ bypass: 'ignore' });
      await scope.run(() => send(openaiUrl('/chat/completions'), chat));
      await scope.close();
      expect(scope.stats.bypassed).toBe(1);
      expect(await warnings()).toEqual([]);
    },
  );

  it.each(clients)('by %s is not reported where the user has opted out', async (_name, send) => {
    const scope = openScope({ bypass: 'error' });
    const url = openaiUrl('/chat/completions');
    const answers = await scope.run(() =>
      Promise.all([realtime(() => send(url, chat)), send(url, chat, { 'x-batchling': 'off' })]),
    );
    await scope.close();
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(stage.simulator.requests.some(({ headers }) => 'x-batchling' in headers)).toBe(false);
    expect(scope.stats.bypassed).toBe(0);
    expect(await warnings()).toEqual([]);
  });

  it('is reported once, not by every wrapper of fetch', async () => {
    const below = globalThis.fetch;
    globalThis.fetch = (...parameters) => below(...parameters);
    const scope = openScope();
    await scope.run(() => byFetch(openaiUrl('/chat/completions'), chat));
    await scope.close();
    globalThis.fetch = below;
    expect(scope.stats.bypassed).toBe(1);
  });
});

describe('an LLM call by node:http, at a path that is a common word', () => {
  const messages = [{ role: 'user', content: 'hello' }];
  const message = { model: 'claude-test', max_tokens: 9, messages };
  const url = () => `${stage.simulator.baseUrl('anthropic')}/v1/messages`;
  const { body: _, ...post } = chatRequest('', {
    'x-api-key': 'k',
    'anthropic-version': '2023-06-01',
  });

  /** Writes a body in pieces, over the real socket. */
  function send(scope: BatchingContext, pieces: readonly string[], headers = {}) {
    const options = { ...post, headers: { ...post.headers, ...headers } };
    const sending = scope.run(() => request(url(), options));
    const outcome = received(sending).catch((error: unknown) => error);
    for (const piece of pieces) sending.write(piece);
    return { sending, outcome };
  }

  it('is known by its beginning, however long it is', async () => {
    const scope = openScope();
    const text = JSON.stringify({
      ...message,
      messages: [{ role: 'user', content: 'x'.repeat(50_000) }],
    });
    const { sending, outcome } = send(scope, [text.slice(0, 20), text.slice(20)]);
    // It goes by its socket, not by us: what was written is not awaited.
    await until(() => scope.stats.bypassed === 1, 'the report');
    sending.end();
    expect(await outcome).toMatchObject({ status: 200 });
    await scope.close();
  });

  it('is ended before its body is complete where bypasses are errors', async () => {
    const scope = openScope({ bypass: 'error' });
    const text = JSON.stringify(message);
    const ways = [
      () => send(scope, [text]).sending.end(),
      () =>
        send(scope, [text.slice(0, 9), text.slice(9)], { 'content-length': text.length }).sending,
      () => send(scope, []).sending.end(text),
    ];
    for (const way of ways) {
      const error = await new Promise<unknown>((resolve) => way().once('error', resolve));
      expect(error).toMatchObject({ code: 'UNSUPPORTED' });
      expect(String(error)).toContain(`': 'anthropic' }`);
    }
    await scope.close();
    expect([scope.stats.bypassed, stage.simulator.meter.total]).toEqual([3, 0]);
    expect(stage.simulator.requests).toEqual([]);
  });

  it('may opt out, even when its request is made already', async () => {
    const scope = openScope({ bypass: 'error' });
    const sending = scope.run(() => request(url(), post));
    const reply = received(sending);
    sending.setHeader('x-batchling', 'off');
    sending.end(JSON.stringify(message));
    expect((await reply).status).toBe(200);
    expect(stage.simulator.requests.some(({ headers }) => 'x-batchling' in headers)).toBe(false);
    await scope.close();
    expect(scope.stats.bypassed).toBe(0);
  });
});

describe('what only looks like an LLM call by its path', () => {
  const others: [what: string, path: string, json: unknown][] = [
    ['a message of a chat service', '/v1/channels/7/messages', { text: 'hello', model: 'T' }],
    ['a message to a thread', '/v1/threads/thread_1/messages', { role: 'user', content: 'x' }],
    ['the answer to a survey', '/forms/1/responses', { answers: [1, 2] }],
    ['a survey of cars', '/survey/responses', { model: 'T', input: 'a fine car' }],
    ['a search', '/search/completions', { prefix: 'ba' }],
  ];

  describe.each(clients)('by %s', (_name, send) => {
    it.each(others)('%s passes, even where bypasses are errors', async (_what, path, json) => {
      const scope = openScope({ bypass: 'error' });
      const { body } = await scope.run(() => send(openaiUrl(path), json));
      await scope.close();
      expect(body).not.toContain('batchling');
      expect(scope.stats.bypassed).toBe(0);
    });
  });
});

describe('an endpoint of a known provider that is not batched', () => {
  const hosts = () => ({ [stage.simulator.baseUrl('openai')]: 'openai' }) as const;

  it('is reported once for each endpoint', async () => {
    const scope = openScope({ hosts: hosts() });
    const client = stage.openai();
    await scope.run(async () => {
      for (const input of ['a', 'b']) {
        await client.audio.speech.create({ model: 'm', voice: 'v', input }).catch(() => undefined);
      }
      await client.videos.create({ prompt: 'a' }).catch(() => undefined);
    });
    await scope.close();
    expect(await warnings()).toEqual([
      expect.stringMatching(/no batches for the endpoint \/audio\/speech of openai.*realtime\(\)/),
      expect.stringMatching(/no batches for the endpoint \/videos of openai.*realtime\(\)/),
    ]);
    expect(scope.stats).toMatchObject({ captured: 0, bypassed: 3 });
  });

  it.each(clients)('by %s is held back where bypasses are errors', async (_name, send) => {
    const scope = openScope({ hosts: hosts(), bypass: 'error' });
    const answer = await scope.run(() => send(openaiUrl('/audio/speech'), { model: 'm' }));
    await scope.close();
    expect([answer.status, stage.simulator.meter.total]).toEqual([400, 0]);
  });

  it('is not reported where nothing is generated', async () => {
    const scope = openScope({ hosts: hosts(), bypass: 'error' });
    const answers = await scope.run(() =>
      Promise.all(
        ['/files', '/batches', '/models', '/responses/input_tokens', '/fine_tuning/jobs'].map(
          (path) => byFetch(openaiUrl(path), {}),
        ),
      ),
    );
    await scope.close();
    for (const { body } of answers) expect(body).not.toContain('batchling');
    expect(scope.stats.bypassed).toBe(0);
  });
});
