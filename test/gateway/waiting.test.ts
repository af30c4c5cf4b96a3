import { execFile } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import { promisify } from 'node:util';
import { createOpenAI } from '@ai-sdk/openai';
import { streamText } from 'ai';
import axios from 'axios';
import got from 'got';
import { Agent, fetch as undiciFetch } from 'undici';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { soon, until } from '../support/until.ts';
import { chatBody, chatRequest, type GatewayProcess, startGateway } from './start-gateway.ts';

const run = promisify(execFile);
let stage: Stage;
let gateway: GatewayProcess;
let url: string;

beforeAll(async () => {
  stage = await openStage({ answer: ({ prompt }) => `You asked: ${prompt}` });
  gateway = await startGateway(stage, { flags: ['--heartbeat', '40ms'] });
  url = `${gateway.url}/openai/v1/chat/completions`;
  // The first call waits for modules to be loaded.
  await (await fetch(url, chatRequest('first'))).text();
});

beforeEach(() => stage.simulator.hold());
afterEach(() => stage.simulator.release());

afterAll(async () => {
  await gateway.kill();
  await stage.close();
});

/** Lets clients wait for many heartbeats. */
async function afterSomeBeats<T>(asked: Promise<T>, milliseconds = 400): Promise<T> {
  asked.catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  stage.simulator.release();
  return asked;
}

async function has(command: string): Promise<boolean> {
  return run(command, ['--version']).then(
    () => true,
    () => false,
  );
}

const [hasPython, hasCurl] = await Promise.all([has('python3'), has('curl')]);
const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-client' };

const python = (lines: string[]) => run('python3', ['-c', lines.join('\n'), url]);
const opening = [
  'import sys, json, urllib.request, urllib.parse, http.client',
  'url = urllib.parse.urlsplit(sys.argv[1])',
  `headers = ${JSON.stringify(headers)}`,
];

/** `seconds`: of each read, so that without heartbeats they would end the wait. */
function askByUrllib(seconds: number) {
  return python([
    ...opening,
    `request = urllib.request.Request(sys.argv[1], ${JSON.stringify(chatBody('urllib'))}.encode(), headers)`,
    `print(urllib.request.urlopen(request, timeout=${seconds}).read().decode())`,
  ]);
}

/** The same; `kind`: of its heartbeat. */
function askByHttpClient(kind: string, seconds: number) {
  return python([
    ...opening,
    `headers['x-batchling-heartbeat'] = '${kind}'`,
    `connection = http.client.HTTPConnection(url.netloc, timeout=${seconds})`,
    `connection.request('POST', url.path, ${JSON.stringify(chatBody(`client ${kind}`))}, headers)`,
    'print(connection.getresponse().read().decode())',
  ]);
}

describe('a client that waits for long', () => {
  it('is Node fetch, or Python where it is there, whose time limits start anew with each heartbeat', async () => {
    // In seconds. Far above the heartbeat: a busy machine delays one.
    const limit = 1;
    const dispatcher = new Agent({ headersTimeout: limit * 1_000 });
    const request = chatRequest('fetch', { 'user-agent': 'node' });
    const fetched = undiciFetch(url, { ...(request as object), dispatcher });
    const printing = hasPython ? [askByUrllib(limit), askByHttpClient('100', limit)] : [];
    const all = Promise.all([fetched, Promise.all(printing)]);
    const [response, printed] = await afterSomeBeats(all, 2_500);
    expect(await response.text()).toContain('You asked: fetch');
    const words = hasPython ? ['You asked: urllib', 'You asked: client 100'] : [];
    expect(printed.map(({ stdout }) => stdout)).toEqual(
      words.map((word) => expect.stringContaining(word)),
    );
    await dispatcher.close();
  });

  it('is the OpenAI SDK', async () => {
    const messages = [{ role: 'user' as const, content: 'openai' }];
    const client = gateway.openai();
    const asked = client.chat.completions.create({ model: 'gpt-5-mini', messages });
    expect((await afterSomeBeats(asked)).choices[0]?.message.content).toBe('You asked: openai');
  });

  it('is axios, got', async () => {
    const post = async () => (await axios.post(url, chatBody('axios'), { headers })).data;
    const both = Promise.all([
      post().then(JSON.stringify),
      got.post(url, { body: chatBody('got'), headers }).text(),
    ]);
    const [one, two] = await afterSomeBeats(both);
    expect(one).toContain('You asked: axios');
    expect(two).toContain('You asked: got');
  });

  it.skipIf(!hasCurl)('is curl (skipped where there is none)', async () => {
    const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
    const asked = run('curl', ['-sS', ...given, '-d', chatBody('curl'), url]);
    expect((await afterSomeBeats(asked)).stdout).toContain('You asked: curl');
  });

  it.skipIf(!hasPython)(
    "is Python's http.client, which names itself not, without a heartbeat (skipped where there is none)",
    async () => {
      const asked = askByHttpClient('none', 60);
      expect((await afterSomeBeats(asked)).stdout).toContain('You asked: client none');
    },
  );
});

it.each([
  ['python-httpx/0.28.1', [102]],
  ['python-httpx2/2.13.1', [102]],
  ['AsyncOpenAI/Python 3.22.1', [102]],
  ['python-httpxyz/1.0', []],
])('the client %s is shown %j while it waits', async (agent, expected) => {
  const seen = new Set<number | undefined>();
  const { body = '', ...given } = chatRequest(agent, { 'user-agent': agent });
  const asked = new Promise<number | undefined>((resolve, reject) => {
    const request = httpRequest(url, given as object, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    });
    request.on('information', ({ statusCode }) => seen.add(statusCode));
    request.once('error', reject).end(body);
  });
  const isBeaten = () => seen.size >= expected.length;
  await Promise.race([asked, until(isBeaten, 'a heartbeat')]);
  expect(await afterSomeBeats(asked)).toBe(200);
  expect([...seen]).toEqual(expected);
});

describe('a client that waits for a stream', () => {
  it('is the OpenAI SDK, which has the head of the response before there is an answer, and skips the comments', async () => {
    const messages = [{ role: 'user' as const, content: 'stream' }];
    // Its time limit ends with the head, which comes with the first comment: the batch is held.
    const stream = await soon(
      gateway.openai().chat.completions.create({ model: 'gpt-5-mini', messages, stream: true }),
    );
    const asked = (async () => {
      let text = '';
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
      return text;
    })();
    expect(await afterSomeBeats(asked)).toBe('You asked: stream');
  });

  it('is the Anthropic SDK', async () => {
    const stream = gateway.anthropic().messages.stream({
      model: 'claude-haiku-4-5',
      max_tokens: 20,
      messages: [{ role: 'user', content: 'stream' }],
    });
    expect(await afterSomeBeats(stream.finalText())).toBe('You asked: stream');
  });

  it('is the AI SDK', async () => {
    const openai = createOpenAI({ apiKey: 'sk-client', baseURL: `${gateway.url}/openai/v1` });
    const { text } = streamText({ model: openai.chat('gpt-5-mini'), prompt: 'ai stream' });
    expect(await afterSomeBeats(Promise.resolve(text))).toBe('You asked: ai stream');
  });

  it('and gets an error is told inside of the stream, as the SDKs expect it', async () => {
    const content = '[[status 400 bad_thing]]';
    const openai = (async () => {
      const stream = await gateway.openai().chat.completions.create({
        model: 'gpt-5-mini',
        messages: [{ role: 'user', content }],
        stream: true,
      });
      for await (const _ of stream);
    })();
    const anthropic = gateway
      .anthropic()
      .messages.stream({
        model: 'claude-haiku-4-5',
        max_tokens: 20,
        messages: [{ role: 'user', content }],
      })
      .finalText();
    const outcomes = await afterSomeBeats(Promise.allSettled([openai, anthropic]));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const reasons = outcomes.map((outcome) => String((outcome as PromiseRejectedResult).reason));
    expect(reasons[0]).toContain('status 400');
    expect(reasons[1]).toContain('status 400');
  });
});
