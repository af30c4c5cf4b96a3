import { createOpenAI } from '@ai-sdk/openai';
import { streamText } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openaiCompletions } from '../../../src/streams/openai-completions.ts';
import { allOf } from '../../support/all-of.ts';
import fc from '../../support/fast-check.ts';
import {
  type AnswerServer,
  jsonAnswer,
  startAnswerServer,
} from '../../support/servers/answer-server.ts';

type Choice = OpenAI.CompletionChoice;

let server: AnswerServer;
let client: OpenAI;

beforeAll(async () => {
  server = await startAnswerServer();
  client = new OpenAI({ apiKey: 'sk-test-key', baseURL: server.url, maxRetries: 0 });
});
afterAll(() => server.close());

const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 };
const asked = { model: 'gpt-test', prompt: 'Once upon', stream: true } as const;
const logprobs = {
  tokens: [' a', ' time'],
  token_logprobs: [-0.1, -0.2],
  top_logprobs: [{ ' a': -0.1 }, { ' time': -0.2 }],
  text_offset: [9, 11],
};

function completion(...choices: Choice[]): OpenAI.Completion {
  return {
    id: 'cmpl-1',
    object: 'text_completion',
    created: 1_700_000_000,
    model: 'gpt-test',
    system_fingerprint: 'fp_1',
    choices,
    usage,
  };
}

function choice(change: Partial<Choice> = {}): Choice {
  return { index: 0, text: ' a time', logprobs: null, finish_reason: 'stop', ...change };
}

async function chunksOf(json: object, includeUsage = true): Promise<OpenAI.Completion[]> {
  server.answer = openaiCompletions({ includeUsage })(jsonAnswer(json));
  return allOf(await client.completions.create(asked));
}

/** What a program does that puts the pieces together; the SDK has no helper for it. */
function putTogether(chunks: readonly OpenAI.Completion[]): OpenAI.Completion {
  const choices: Choice[] = [];
  for (const one of chunks.flatMap((chunk) => chunk.choices)) {
    const known = choices[one.index];
    choices[one.index] = {
      ...one,
      text: (known?.text ?? '') + one.text,
      logprobs: one.logprobs ?? known?.logprobs ?? null,
    };
  }
  return { ...(chunks.at(-1) as OpenAI.Completion), choices };
}

describe('the pieces that the official client reads are the source of the stream', () => {
  it.each([
    ['a text', completion(choice())],
    ['log probabilities', completion(choice({ logprobs }))],
    [
      'several choices',
      completion(choice(), choice({ index: 1, text: ' two', finish_reason: 'length' })),
    ],
  ])('with %s', async (_what, source) => {
    expect(putTogether(await chunksOf(source))).toEqual(source);
  });

  it('whatever the text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        const source = completion(choice({ text }));
        expect(putTogether(await chunksOf(source))).toEqual(source);
      }),
      { numRuns: 30 },
    );
  });
});

describe('the official client', () => {
  it('gets the reason of an end with the last piece only, and then the usage', async () => {
    const chunks = await chunksOf(completion(choice()));
    const reasons = chunks.flatMap(({ choices }) => choices.map((one) => one.finish_reason));
    expect(reasons).toEqual([null, 'stop']);
    expect(chunks.map((chunk) => chunk.usage)).toEqual([null, null, usage]);
  });

  it('gets no usage that it has not asked for', async () => {
    for (const chunk of await chunksOf(completion(choice()), false)) {
      expect(chunk).not.toHaveProperty('usage');
      expect(chunk.choices).toHaveLength(1);
    }
  });

  it('throws where a success holds an error', async () => {
    const error = { message: 'overloaded', type: 'server_error' };
    await expect(chunksOf({ error })).rejects.toThrow(/overloaded/);
  });
});

it("Vercel's SDK reads the text and the usage", async () => {
  server.answer = openaiCompletions({ includeUsage: true })(jsonAnswer(completion(choice())));
  const { completion: model } = createOpenAI({ apiKey: 'sk-test-key', baseURL: server.url });
  const told = streamText({ model: model('gpt-test'), prompt: 'Once upon', maxRetries: 0 });
  expect(await told.text).toBe(' a time');
  expect(await told.finishReason).toBe('stop');
  expect(await told.usage).toMatchObject({ inputTokens: 3, outputTokens: 5 });
});
