import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import axios from 'axios';
import OpenAI from 'openai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { openStage } from '../../support/stage.ts';

interface PlainServer {
  readonly base: string;
  readonly requests: string[];
}

const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'local',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'from here' }, finish_reason: 'stop' },
  ],
};
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'local',
  content: [{ type: 'text', text: 'from here' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
};

const content = { candidates: [{ content: { role: 'model', parts: [{ text: 'from here' }] } }] };

/** Answers calls at once; for everything else it has a status only. */
async function startPlainServer(status: number, hasFiles = false): Promise<PlainServer> {
  const requests: string[] = [];
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    for await (const _ of request);
    const { method, url = '' } = request;
    const path = url.replace(/\?.*/, '');
    requests.push(`${method} ${path}`);
    const answers: Record<string, unknown> = {
      '/v1/chat/completions': completion,
      '/v1/messages': message,
      '/v1beta/models/local:generateContent': content,
      ...(hasFiles && { '/v1/files': { id: 'file-1', object: 'file' } }),
    };
    const known = answers[path];
    response.writeHead(known ? 200 : status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(known ?? { detail: 'Not Found' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  return { base: `http://127.0.0.1:${port}/v1`, requests };
}

function options(base: string, given: BatchifyOptions = {}): BatchifyOptions {
  return { hosts: { [base]: 'openai' }, store: ':memory:', window: '20ms', poll: '10ms', ...given };
}

function clientAt(base: string): OpenAI {
  return new OpenAI({ apiKey: 'sk-local', baseURL: base, maxRetries: 0 });
}

async function ask(client: OpenAI, content: string): Promise<string | null | undefined> {
  const messages = [{ role: 'user' as const, content }];
  const answer = await client.chat.completions.create({ model: 'local', messages });
  return answer.choices[0]?.message.content;
}

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

describe('a server in hosts that has no batch API', () => {
  it.each([404, 405, 501])(
    'with status %i: its calls go out one by one through the ledger, and the user is told once',
    async (status) => {
      const { base, requests } = await startPlainServer(status);
      const said: string[] = [];
      const logger = { ...quiet, warn: (text: string) => said.push(text) };
      const folder = await mkdtemp(join(tmpdir(), 'batchling-test-'));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const scope = batchify(options(base, { logger, store: join(folder, 'ledger.db') }));
      const client = clientAt(base);
      const answers = await scope.run(() =>
        Promise.all(['one', 'two', 'three'].map((content) => ask(client, content))),
      );
      expect(answers).toEqual(['from here', 'from here', 'from here']);
      expect(said.filter((text) => text.includes('no batch API'))).toEqual([
        expect.stringContaining(`the server at ${base} has no batch API`),
      ]);
      // It is known from here on: nothing is uploaded once more, nothing waits for company.
      expect(await scope.run(() => ask(client, 'four'))).toBe('from here');
      expect(requests.filter((request) => request === 'POST /v1/files')).toHaveLength(1);
      expect(scope.stats).toMatchObject({ captured: 4, bypassed: 0, answered: 4, realtime: 4 });
      await scope.close();
    },
  );

  it('that has files and no batches is known by its create', async () => {
    const { base, requests } = await startPlainServer(404, true);
    const client = clientAt(base);
    expect(await batchify(() => ask(client, 'one'), options(base))).toBe('from here');
    expect(requests).toContain('POST /v1/batches');
  });

  it('is an error where bypasses are errors', async () => {
    const { base, requests } = await startPlainServer(404);
    const client = clientAt(base);
    const asked = batchify(() => ask(client, 'one'), options(base, { bypass: 'error' }));
    await expect(asked).rejects.toMatchObject({ status: 400, type: 'batchling_unsupported' });
    await expect(asked).rejects.toThrow('no batch API');
    expect(requests).not.toContain('POST /v1/chat/completions');
  });

  it('is told to clients that do not use fetch, too', async () => {
    const { base } = await startPlainServer(404);
    const body = { model: 'local', messages: [{ role: 'user', content: 'by axios' }] };
    const headers = { authorization: 'Bearer sk-local' };
    const { data } = await batchify(
      () => axios.post(`${base}/chat/completions`, body, { headers }),
      options(base),
    );
    expect(data).toEqual(completion);
  });

  it.each([404, 405, 501])('may look like sference, with status %i', async (status) => {
    const { base } = await startPlainServer(status);
    const given = options(base, { hosts: { [base]: 'sference' } });
    expect(await batchify(() => ask(clientAt(base), 'one'), given)).toBe('from here');
  });

  it.each([404, 405, 501])('may look like Google, with status %i', async (status) => {
    const { base } = await startPlainServer(status);
    const root = base.replace('/v1', '');
    const init = {
      method: 'POST',
      headers: { 'x-goog-api-key': 'k-local', 'content-type': 'application/json' },
      body: JSON.stringify({ contents: [{ parts: [{ text: 'one' }] }] }),
    };
    const answer = await batchify(
      async () => (await fetch(`${root}/v1beta/models/local:generateContent`, init)).json(),
      options(base, { hosts: { [root]: 'google' } }),
    );
    expect(answer).toEqual(content);
  });

  it('may look like Anthropic', async () => {
    const { base } = await startPlainServer(404);
    const baseURL = base.replace('/v1', '');
    const client = new Anthropic({ apiKey: 'sk-local', baseURL, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'one' }];
    const answer = await batchify(
      () => client.messages.create({ model: 'local', max_tokens: 8, messages }),
      options(base, { hosts: { [baseURL]: 'anthropic' } }),
    );
    expect(answer.content).toEqual(message.content);
  });

  it.each(
    (['together', 'mistral'] as const).flatMap((provider) =>
      [404, 405, 501].map((status) => [provider, status] as const),
    ),
  )('may look like %s, with status %i', async (provider, status) => {
    const { base } = await startPlainServer(status);
    const client = clientAt(base);
    const asked = batchify(
      () => ask(client, 'one'),
      options(base, { hosts: { [base]: provider } }),
    );
    expect(await asked).toBe('from here');
  });
});

describe('a client that loses patience while its call is held', () => {
  const held = { window: '200ms', maxWindow: '200ms' } as const;
  const impatient = (base: string) =>
    new OpenAI({ apiKey: 'sk-local', baseURL: base, maxRetries: 0, timeout: 30 });

  it('gets the answer of the server all the same', async () => {
    const { base, requests } = await startPlainServer(404);
    const client = impatient(base);
    expect(await batchify(() => ask(client, 'one'), options(base, held))).toBe('from here');
    expect(requests).toEqual(['POST /v1/files', 'POST /v1/chat/completions']);
  });

  it('is told why where bypasses are errors', async () => {
    const { base } = await startPlainServer(404);
    const client = impatient(base);
    const given = { ...held, bypass: 'error' } as const;
    const asked = batchify(() => ask(client, 'one'), options(base, given));
    await expect(asked).rejects.toMatchObject({ status: 400, type: 'batchling_unsupported' });
  });
});

it('a server without a batch API is let go although another one has taken batches', async () => {
  const stage = await openStage();
  onTestFinished(() => stage.close());
  const { base } = await startPlainServer(404);
  const given = stage.options();
  const scope = batchify({ ...given, hosts: { ...given.hosts, [base]: 'openai' } });
  await scope.run(() => ask(stage.openai({ maxRetries: 0 }), 'one'));
  expect(scope.stats.batches.submitted).toBe(1);
  expect(await scope.run(() => ask(clientAt(base), 'two'))).toBe('from here');
  await scope.close();
});

describe('a 404 of a server that has had batches is no reason to pay the full price', () => {
  async function scopeAfterABatch() {
    const stage = await openStage();
    onTestFinished(() => stage.close());
    const { simulator } = stage;
    const client = stage.openai({ maxRetries: 0 });
    const scope = batchify(stage.options());
    await scope.run(() => ask(client, 'one'));
    const action = { kind: 'status', status: 404 } as const;
    simulator.faults.add({ method: 'POST', path: '/v1/files', action });
    return { scope, client, simulator };
  }

  it('its caller is told, and the next call is batched again', async () => {
    const { scope, client, simulator } = await scopeAfterABatch();
    await expect(scope.run(() => ask(client, 'two'))).rejects.toMatchObject({ status: 404 });
    await scope.run(() => ask(client, 'three'));
    expect(scope.stats.batches.submitted).toBe(2);
    expect(simulator.meter.realtime).toBe(0);
    await scope.close();
  });

  it('nor is it for clients that do not use fetch', async () => {
    const { scope, client, simulator } = await scopeAfterABatch();
    const body = { model: 'm', messages: [{ role: 'user', content: 'by axios' }] };
    const headers = { authorization: `Bearer ${client.apiKey}` };
    const asked = scope.run(() =>
      axios.post(`${client.baseURL}/chat/completions`, body, { headers }),
    );
    await expect(asked).rejects.toMatchObject({ response: { status: 404 } });
    expect(simulator.meter.realtime).toBe(0);
    await scope.close();
  });
});
