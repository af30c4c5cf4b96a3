import {
  ApiError,
  type GenerateContentResponse,
  GoogleGenAI,
  type ServiceTier,
} from '@google/genai';
import OpenAI, { AzureOpenAI } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';
import { patientClock } from '../../support/clocks/patient-clock.ts';
import { vertexClient } from '../../support/programs/parts/vertex-client.ts';

let simulator: Simulator;
let openai: OpenAI;
let azure: AzureOpenAI;
let google: GoogleGenAI;

const { clock, skipHours, isWaitedFor } = patientClock();

beforeAll(async () => {
  simulator = await startSimulator({ clock });
  const maxRetries = 0;
  openai = new OpenAI({ apiKey: 'sk-one', baseURL: simulator.baseUrl('openai'), maxRetries });
  azure = new AzureOpenAI({
    apiKey: 'key-one',
    endpoint: simulator.baseUrl('azure').replace('/openai/v1', ''),
    apiVersion: '2024-10-21',
    maxRetries,
  });
  google = new GoogleGenAI({
    apiKey: 'key-one',
    httpOptions: { baseUrl: simulator.baseUrl('google') },
  });
});
beforeEach(() => simulator.reset());
afterAll(() => simulator.close());

const messages = [{ role: 'user' as const, content: 'cat' }];

function ask(client: OpenAI = openai, model = 'gpt-5-mini') {
  return client.chat.completions.create({ model, messages, service_tier: 'flex' });
}

function askGemini(serviceTier: string) {
  return google.models.generateContent({
    model: 'gemini-2.5-flash',
    contents: 'cat',
    config: { serviceTier: serviceTier as ServiceTier },
  });
}

const tiers = () => simulator.meter.executions.map(({ tier }) => tier);

describe('OpenAI and Azure', () => {
  it('serve flex where the body asks for it, say so, and bill it', async () => {
    expect((await ask()).service_tier).toBe('flex');
    const response = await openai.responses.create({
      model: 'gpt-5',
      input: 'cat',
      service_tier: 'flex',
    });
    expect(response.service_tier).toBe('flex');
    expect((await ask(azure)).service_tier).toBe('flex');
    expect(tiers()).toEqual(['flex', 'flex', 'flex']);
  });

  it('serve the ordinary tier to everybody else', async () => {
    const plain = await openai.chat.completions.create({ model: 'gpt-5', messages });
    const auto = await openai.chat.completions.create({
      model: 'gpt-5',
      messages,
      service_tier: 'auto',
    });
    expect([plain.service_tier, auto.service_tier]).toEqual(['default', 'default']);
    expect(tiers()).toEqual(['standard', 'standard']);
  });

  it('name the tier in streams, too, with the usage', async () => {
    for (const client of [openai, azure]) {
      const stream = client.chat.completions.stream({
        model: 'gpt-5',
        messages,
        service_tier: 'flex',
        stream_options: { include_usage: true },
      });
      const completion = await stream.finalChatCompletion();
      expect(completion.service_tier).toBe('flex');
      expect(completion.usage?.prompt_tokens).toBeGreaterThan(0);
    }
    const response = await openai.responses
      .stream({ model: 'gpt-5', input: 'cat', service_tier: 'flex' })
      .finalResponse();
    expect(response.service_tier).toBe('flex');
    expect(response.usage?.output_tokens).toBeGreaterThan(0);
  });

  it('take a header at Azure', async () => {
    const headers = { 'x-ms-service-tier': 'flex' };
    const completion = await azure.chat.completions.create(
      { model: 'gpt-5.6-sol', messages },
      { headers },
    );
    expect(completion.service_tier).toBe('flex');
    const dear = await azure.chat.completions.create(
      { model: 'gpt-5.6-sol', messages },
      { headers: { 'x-ms-service-tier': 'auto' } },
    );
    expect(dear.service_tier).toBe('priority');
  });

  it('refuse a tier that they do not know, and models that have none', async () => {
    simulator.configure({ flex: { openai: { refusedModels: ['gpt-4o'] } } });
    const expected = { status: 400, type: 'invalid_request_error', param: 'service_tier' };
    await expect(ask(openai, 'gpt-4o')).rejects.toMatchObject(expected);
    await expect(
      openai.chat.completions.create({ model: 'gpt-5', messages, service_tier: 'fIex' as 'flex' }),
    ).rejects.toMatchObject(expected);
    simulator.configure({ flex: { openai: { forbidden: true } } });
    await expect(ask()).rejects.toMatchObject(expected);
    expect(simulator.meter.refusals.map(({ status }) => status)).toEqual([400, 400, 400]);
    expect(simulator.meter.total).toBe(0);
  });

  it('say in two ways that there is no room, and when to come back', async () => {
    simulator.configure({ flex: { openai: { full: { first: 2 }, retryAfterSeconds: 7 } } });
    await expect(ask()).rejects.toMatchObject({ status: 429, code: 'resource_unavailable' });
    const second = await ask().catch((error) => error);
    expect(second).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    expect(second.headers.get('retry-after')).toBe('7');
    expect((await ask()).service_tier).toBe('flex');
    expect(simulator.meter.summary()).toMatchObject({ refused: 2, tiers: { flex: 1 } });
  });

  it('say only what they were told to say', async () => {
    simulator.configure({ flex: { openai: { full: 'always', noRoom: 'rate_limit_exceeded' } } });
    for (const _try of [1, 2]) {
      await expect(ask()).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    }
  });

  it('are full for a share of the calls, the same ones with the same seed', async () => {
    const round = async () => {
      simulator.reset();
      simulator.configure({ flex: { openai: { full: { share: 1 / 3 } } } });
      const fates: boolean[] = [];
      for (let call = 0; call < 60; call++) {
        fates.push(
          await ask().then(
            () => true,
            () => false,
          ),
        );
      }
      return fates;
    };
    const first = await round();
    const refused = first.filter((isAnswered) => !isAnswered).length;
    expect(refused).toBeGreaterThan(10);
    expect(refused).toBeLessThan(30);
    expect(await round()).toEqual(first);
  });

  it('are full for a stretch of time', async () => {
    const until = clock.now() + 1_800_000;
    simulator.configure({ flex: { openai: { full: { until } } } });
    await expect(ask()).rejects.toMatchObject({ status: 429 });
    skipHours(1);
    await expect(ask()).resolves.toMatchObject({ service_tier: 'flex' });
  });

  it('may serve another tier, or not say which', async () => {
    simulator.configure({ flex: { openai: { servedAs: 'standard' } } });
    expect((await ask()).service_tier).toBe('default');
    simulator.configure({ flex: { openai: { servedAs: 'flex', echoed: false } } });
    expect(await ask()).not.toHaveProperty('service_tier');
    expect(tiers()).toEqual(['standard', 'flex']);
  });

  it('may take their time, and count the calls that wait at once', async () => {
    simulator.configure({ flex: { openai: { delay: 600_000 } } });
    const calls = [ask(), ask(), ask()];
    await expect.poll(() => simulator.meter.mostAtOnce()).toBe(3);
    expect(isWaitedFor()).toBe(true);
    expect(simulator.meter.total).toBe(0);
    skipHours(1);
    await Promise.all(calls);
    await openai.chat.completions.create({ model: 'gpt-5', messages });
    expect(simulator.meter.summary()).toMatchObject({ total: 4, mostAtOnce: 3 });
    const [first, second] = simulator.meter.executions;
    expect(first?.bodyHash).toMatch(/^[0-9a-f]{64}$/);
    expect(second?.bodyHash).toBe(first?.bodyHash);
    expect(simulator.meter.mostAtOnce(first?.key)).toBe(3);
  });

  it('may lose the connection before the call is billed, or after', async () => {
    const path = '/v1/chat/completions';
    simulator.faults.add({ path, action: { kind: 'reset' } });
    await expect(ask()).rejects.toThrow(OpenAI.APIConnectionError);
    expect(simulator.meter.total).toBe(0);
    simulator.faults.add({ path, action: { kind: 'lost' } });
    await expect(ask()).rejects.toThrow(OpenAI.APIConnectionError);
    expect(tiers()).toEqual(['flex']);
  });
});

it('Groq has a status of its own for a full tier', async () => {
  simulator.configure({ flex: { groq: { full: 'always' } } });
  const groq = new OpenAI({
    apiKey: 'gsk-one',
    baseURL: simulator.baseUrl('groq'),
    maxRetries: 0,
  });
  await expect(ask(groq)).rejects.toMatchObject({ status: 498, code: 'capacity_exceeded' });
});

it('other providers know no tiers', async () => {
  const together = new OpenAI({ apiKey: 'any', baseURL: simulator.baseUrl('together') });
  await ask(together);
  expect(tiers()).toEqual(['standard']);
});

describe('Gemini', () => {
  it('serves flex, and says so in the usage and in a header', async () => {
    const answer = await askGemini('flex');
    expect(answer.usageMetadata).toMatchObject({ serviceTier: 'flex' });
    expect(answer.sdkHttpResponse?.headers).toMatchObject({ 'x-gemini-service-tier': 'flex' });
    const stream = await google.models.generateContentStream({
      model: 'gemini-2.5-flash',
      contents: 'cat',
      config: { serviceTier: 'flex' as ServiceTier },
    });
    const told: unknown[] = [];
    for await (const chunk of stream) told.push(chunk.usageMetadata);
    expect(told.at(-1)).toMatchObject({ serviceTier: 'flex' });
    expect(tiers()).toEqual(['flex', 'flex']);
  });

  it('takes the word in lower case only', async () => {
    const error = await askGemini('FLEX').catch((reason) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 400, message: expect.stringContaining('FLEX') });
  });

  it('says in two ways that there is no room', async () => {
    simulator.configure({ flex: { google: { full: 'always' } } });
    await expect(askGemini('flex')).rejects.toMatchObject({ status: 503 });
    await expect(askGemini('flex')).rejects.toMatchObject({ status: 429 });
    await expect(askGemini('standard')).resolves.toBeDefined();
  });

  it('may not say which tier served', async () => {
    simulator.configure({ flex: { google: { echoed: false } } });
    const { usageMetadata, sdkHttpResponse } = await askGemini('flex');
    expect(usageMetadata).not.toHaveProperty('serviceTier');
    expect(sdkHttpResponse?.headers).not.toHaveProperty('x-gemini-service-tier');
  });
});

describe('Vertex', () => {
  const both = {
    'X-Vertex-AI-LLM-Request-Type': 'shared',
    'X-Vertex-AI-LLM-Shared-Request-Type': 'flex',
  };

  function generate(headers: Record<string, string>, location = 'global') {
    const path = `/v1/projects/p/locations/${location}/publishers/google/models/gemini-2.5-pro`;
    return fetch(`${simulator.baseUrl('vertex')}${path}:generateContent`, {
      method: 'POST',
      headers: { authorization: 'Bearer ya29.one', ...headers },
      body: JSON.stringify({
        contents: [{ role: 'user', parts: [{ text: 'cat' }] }],
        serviceTier: 'flex',
      }),
    });
  }

  const trafficOf = async (response: Promise<Response>) => {
    const answer = (await (await response).json()) as GenerateContentResponse;
    return answer.usageMetadata?.trafficType;
  };

  it('is asked by two headers on the global endpoint, and by nothing else', async () => {
    expect(await trafficOf(generate(both))).toBe('ON_DEMAND_FLEX');
    const { 'X-Vertex-AI-LLM-Request-Type': _first, ...second } = both;
    expect(await trafficOf(generate(second))).toBe('ON_DEMAND');
    expect(await trafficOf(generate(both, 'europe-west4'))).toBe('ON_DEMAND');
    expect(await trafficOf(generate({}))).toBe('ON_DEMAND');
    expect(tiers()).toEqual(['flex', 'standard', 'standard', 'standard']);
  });

  it('says 429 where there is no room', async () => {
    simulator.configure({ flex: { vertex: { full: 'always', retryAfterSeconds: 3 } } });
    const response = await generate(both);
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('3');
    expect(await response.json()).toMatchObject({ error: { status: 'RESOURCE_EXHAUSTED' } });
  });

  it('is spoken by the SDK', async () => {
    const client = vertexClient(simulator.baseUrl('vertex'), 'ya29.one', {
      location: 'global',
    });
    const answer = await client.models.generateContent({
      model: 'gemini-2.5-pro',
      contents: 'cat',
      config: { httpOptions: { headers: both } },
    });
    expect(answer.usageMetadata).toMatchObject({ trafficType: 'ON_DEMAND_FLEX' });
    const stream = await client.models.generateContentStream({
      model: 'gemini-2.5-pro',
      contents: 'cat',
      config: { httpOptions: { headers: both } },
    });
    const told: unknown[] = [];
    for await (const chunk of stream) told.push(chunk.usageMetadata);
    expect(told.at(-1)).toMatchObject({
      trafficType: 'ON_DEMAND_FLEX',
      totalTokenCount: expect.any(Number),
    });
  });
});

it('other processes set the tiers over HTTP, and wrong settings are refused', async () => {
  const post = (flex: unknown) =>
    fetch(`${simulator.url}/__simulator/settings`, {
      method: 'POST',
      body: JSON.stringify({ flex }),
    });
  expect((await post({ openai: { full: 'always' } })).status).toBe(200);
  await expect(ask()).rejects.toMatchObject({ status: 429 });
  for (const wrong of [{ ful: 'always' }, { full: 'often' }, { full: { share: -1 } }]) {
    expect((await post({ openai: wrong })).status).toBe(400);
  }
  const meter = await (await fetch(`${simulator.url}/__simulator/meter?executions`)).json();
  expect(meter).toMatchObject({ refused: 1, refusals: [{ provider: 'openai', status: 429 }] });
});
