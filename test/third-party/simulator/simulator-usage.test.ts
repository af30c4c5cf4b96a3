import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { Mistral } from '@mistralai/mistralai';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator();
});
beforeEach(() => simulator.reset());
afterAll(() => simulator.close());

const messages = [{ role: 'user' as const, content: 'cat' }];
const newOpenAI = (provider: string) =>
  new OpenAI({ apiKey: 'any', baseURL: simulator.baseUrl(provider), maxRetries: 0 });
const chat = (provider: string, model: string, content = 'cat') =>
  newOpenAI(provider).chat.completions.create({
    model,
    messages: [{ role: 'user', content }],
  });

it('OpenAI counts reasoning and speech among the rest', async () => {
  simulator.configure({ usage: { reasoning: 300, audioInput: 40, audioOutput: 20 } });
  const { usage } = await chat('openai', 'gpt-audio');
  expect(usage?.completion_tokens_details).toEqual({ reasoning_tokens: 300, audio_tokens: 20 });
  expect(usage?.prompt_tokens_details).toEqual({ cached_tokens: 0, audio_tokens: 40 });
  expect(usage?.completion_tokens).toBeGreaterThan(320);
  expect(usage?.prompt_tokens).toBeGreaterThan(40);
  expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
  const [execution] = simulator.meter.executions;
  expect(execution).toMatchObject({ inputTokens: usage?.prompt_tokens, usage: { reasoning: 300 } });
});

it('a prompt can ask for a usage', async () => {
  const { usage } = await chat('openai', 'gpt-5', 'cat [[usage reasoning=77 cacheRead=5]]');
  expect(usage?.completion_tokens_details?.reasoning_tokens).toBe(77);
  expect(usage?.prompt_tokens_details?.cached_tokens).toBe(5);
});

it('a function decides by the request, and its mistakes are told', async () => {
  simulator.configure({
    usage: ({ model, tier }) => {
      if (model === 'bad') throw new Error('no idea');
      return tier === 'flex' ? { input: 1_000, output: 10 } : undefined;
    },
  });
  const flex = await newOpenAI('openai').chat.completions.create({
    model: 'gpt-5',
    messages,
    service_tier: 'flex',
  });
  expect(flex.usage).toMatchObject({ prompt_tokens: 1_000, completion_tokens: 10 });
  expect((await chat('openai', 'gpt-5')).usage?.prompt_tokens).toBeLessThan(100);
  await expect(chat('openai', 'bad')).rejects.toMatchObject({
    status: 500,
    message: expect.stringContaining('no idea'),
  });
});

it('OpenAI shows searches in the output of a response, streamed or not', async () => {
  simulator.configure({ usage: { webSearches: 2, reasoning: 9 } });
  const request = { model: 'gpt-5', input: 'cat' };
  const { responses } = newOpenAI('openai');
  const whole = await responses.create(request);
  const streamed = await responses.stream(request).finalResponse();
  for (const { output, output_text, usage } of [whole, streamed]) {
    expect(output.filter(({ type }) => type === 'web_search_call')).toHaveLength(2);
    expect(output_text).toContain('cat');
    expect(usage?.output_tokens_details.reasoning_tokens).toBe(9);
  }
});

it('Anthropic tells thinking, searches and the place', async () => {
  simulator.configure({ usage: { reasoning: 50, webSearches: 3 } });
  const client = new Anthropic({ apiKey: 'any', baseURL: simulator.baseUrl('anthropic') });
  const params = { model: 'claude-opus-4-6', max_tokens: 99, messages, inference_geo: 'us' };
  const whole = await client.messages.create(params);
  const streamed = await client.messages.stream(params).finalMessage();
  for (const { usage } of [whole, streamed]) {
    expect(usage).toMatchObject({
      output_tokens_details: { thinking_tokens: 50 },
      server_tool_use: { web_search_requests: 3, web_fetch_requests: 0 },
      inference_geo: 'us',
    });
    expect(usage.output_tokens).toBeGreaterThan(50);
  }
});

it('Gemini counts thoughts and tools beside the rest', async () => {
  simulator.configure({
    usage: { reasoning: 70, toolInput: 30, cacheRead: 4, audioInput: 6, webSearches: 2 },
  });
  const client = new GoogleGenAI({
    apiKey: 'any',
    httpOptions: { baseUrl: simulator.baseUrl('google') },
  });
  const request = { model: 'gemini-2.5-pro', contents: 'a cat and a dog' };
  const whole = await client.models.generateContent(request);
  const chunks = [];
  for await (const chunk of await client.models.generateContentStream(request)) chunks.push(chunk);
  for (const answer of [whole, chunks.at(-1)]) {
    const usage = answer?.usageMetadata;
    expect(usage).toMatchObject({
      thoughtsTokenCount: 70,
      toolUsePromptTokenCount: 30,
      cachedContentTokenCount: 4,
    });
    const { promptTokenCount = 0, candidatesTokenCount = 0, totalTokenCount } = usage ?? {};
    expect(usage?.promptTokensDetails).toEqual([
      { modality: 'TEXT', tokenCount: promptTokenCount - 6 },
      { modality: 'AUDIO', tokenCount: 6 },
    ]);
    expect(totalTokenCount).toBe(promptTokenCount + candidatesTokenCount + 70 + 30);
    expect(answer?.candidates?.[0]?.groundingMetadata?.webSearchQueries).toHaveLength(2);
  }
  expect(chunks[0]?.candidates?.[0]?.groundingMetadata).toBeUndefined();
});

it('xAI leaves reasoning out of the completion, and says what it has billed', async () => {
  simulator.configure({ usage: { reasoning: 200, output: 250, billedTicks: 12_345_678 } });
  const { usage } = await chat('xai', 'grok-4');
  expect(usage).toMatchObject({
    completion_tokens: 50,
    completion_tokens_details: { reasoning_tokens: 200 },
    cost_in_usd_ticks: 12_345_678,
  });
  expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + 250);
  expect(simulator.meter.dollars({ 'grok-4': { input: 1, output: 1 } })).toBe(12_345_678 / 1e10);
});

it('Groq, DeepSeek and Mistral have fields of their own', async () => {
  simulator.configure({ usage: { input: 20, cacheRead: 8 } });
  expect((await chat('groq', 'llama-4')).usage).toMatchObject({
    prompt_tokens_details: { cached_tokens: 8 },
    total_time: expect.any(Number),
  });
  expect((await chat('siliconflow', 'deepseek-ai/DeepSeek-V3')).usage).toMatchObject({
    prompt_cache_hit_tokens: 8,
    prompt_cache_miss_tokens: 12,
  });
  const mistral = new Mistral({ apiKey: 'any', serverURL: simulator.baseUrl('mistral') });
  const { usage } = await mistral.chat.complete({ model: 'mistral-small-latest', messages });
  expect(usage).toMatchObject({ promptTokens: 20 });
  expect(JSON.stringify(usage)).toContain('8');
});

it('dollars know tiers, the cache, searches and the place, and miss no price', async () => {
  simulator.configure({
    usage: { input: 1_000, output: 100, cacheRead: 400, webSearches: 1, audioInput: 100 },
  });
  await newOpenAI('openai').chat.completions.create({
    model: 'gpt-5',
    messages,
    service_tier: 'flex',
  });
  const price = { input: 2, output: 8, cacheRead: 0.2, audioInput: 10, webSearch: 0.01 };
  const dollars = (more: object) => simulator.meter.dollars({ 'gpt-5': { ...price, ...more } });
  const rest = 500 * 2 + 100 * 10 + 100 * 8;
  expect(dollars({})).toBeCloseTo((rest + 400 * 0.2) / 1e6 + 0.01, 12);
  const shares = { flex: 0.5 };
  expect(dollars({ shares })).toBeCloseTo((rest / 2 + 400 * 0.1) / 1e6 + 0.01, 12);
  const alike = { shares, cacheReadShares: {} };
  expect(dollars(alike)).toBeCloseTo((rest / 2 + 400 * 0.2) / 1e6 + 0.01, 12);
  expect(() => simulator.meter.dollars({})).toThrow('There is no price of gpt-5');
});
