import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { ApiError, GoogleGenAI } from '@google/genai';
import { APICallError, streamText, tool } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { googleEvents } from '../../../src/streams/google.ts';
import { allOf } from '../../support/all-of.ts';
import {
  type AnswerServer,
  jsonAnswer,
  startAnswerServer,
} from '../../support/servers/answer-server.ts';

let server: AnswerServer;
let client: GoogleGenAI;

beforeAll(async () => {
  server = await startAnswerServer();
  const httpOptions = { baseUrl: server.url };
  client = new GoogleGenAI({ apiKey: 'google-test-key', httpOptions });
});
afterAll(() => server.close());

const args = { city: 'Zürich', days: 3 };
const parts = [
  { text: 'hm', thought: true },
  { text: 'Hello ' },
  { text: 'there' },
  { functionCall: { name: 'weather', args } },
];
const answer = {
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
  usageMetadata: {
    promptTokenCount: 3,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 2,
    totalTokenCount: 10,
  },
  modelVersion: 'gemini-test',
  responseId: 'r-1',
};
const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: answer.usageMetadata };
const refused = {
  status: 429,
  headers: { 'content-type': 'application/json' },
  body: '{"error":{"code":429,"message":"no quota","status":"RESOURCE_EXHAUSTED"}}',
};

const asked = { model: 'gemini-test', contents: 'hello' };
const streamed = async () => allOf(await client.models.generateContentStream(asked));

describe('@google/genai', () => {
  it('reads every part once, and why it ended with the last', async () => {
    server.answer = googleEvents(jsonAnswer(answer));
    const chunks = await streamed();
    const read = chunks.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
    expect(read).toEqual(parts);
    const reasons = chunks.map(({ candidates }) => candidates?.[0]?.finishReason);
    expect(reasons).toEqual([undefined, undefined, undefined, 'STOP']);
    expect(chunks.at(-1)?.usageMetadata).toEqual(answer.usageMetadata);
    expect(chunks.flatMap(({ functionCalls }) => functionCalls ?? [])).toEqual([
      { name: 'weather', args },
    ]);
  });

  it('goes on with a chat', async () => {
    server.answer = googleEvents(jsonAnswer(answer));
    const chat = client.chats.create({ model: 'gemini-test' });
    await allOf(await chat.sendMessageStream({ message: 'hello' }));
    const told = chat.getHistory().filter(({ role }) => role === 'model');
    expect(told.flatMap((content) => content.parts)).toEqual(parts);
  });

  it('reads a prompt that was blocked', async () => {
    server.answer = googleEvents(jsonAnswer(blocked));
    const [chunk] = await streamed();
    expect(chunk?.promptFeedback).toEqual(blocked.promptFeedback);
  });

  it('raises its own error', async () => {
    server.answer = googleEvents(refused);
    const error = await streamed().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 429, message: expect.stringContaining('no quota') });
  });
});

describe('the AI SDK', () => {
  const errors: unknown[] = [];
  const stream = () =>
    streamText({
      model: createGoogleGenerativeAI({ apiKey: 'k', baseURL: server.url })('gemini-test'),
      prompt: 'hello',
      maxRetries: 0,
      tools: { weather: tool({ inputSchema: z.object({ city: z.string(), days: z.number() }) }) },
      onError: ({ error }) => void errors.push(error),
    });

  it('reads text, thoughts, calls, usage and the end', async () => {
    server.answer = googleEvents(jsonAnswer(answer));
    const result = stream();
    expect(await result.text).toBe('Hello there');
    expect(await result.reasoningText).toBe('hm');
    expect(await result.toolCalls).toMatchObject([{ toolName: 'weather', input: args }]);
    expect(await result.finishReason).toBe('tool-calls');
    expect(await result.usage).toMatchObject({ inputTokens: 3, outputTokens: 7 });
  });

  it('raises its own error', async () => {
    server.answer = googleEvents(refused);
    await stream().consumeStream();
    expect(errors).toHaveLength(1);
    expect(APICallError.isInstance(errors[0])).toBe(true);
    expect(errors[0]).toMatchObject({ statusCode: 429, message: 'no quota' });
  });
});
