import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, run, tool } from '@openai/agents';
import {
  tool as aiTool,
  generateObject,
  generateText,
  type LanguageModel,
  stepCountIs,
  streamText,
} from 'ai';
import { zodFunction, zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { batchify } from '../../../src/index.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  process.env.OPENAI_AGENTS_DISABLE_TRACING = '1';
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const Review = z.object({
  sentiment: z.enum(['positive', 'negative']),
  score: z.int().min(1).max(5),
  topics: z.array(z.object({ name: z.string(), quote: z.string().nullable() })),
});
const City = z.object({ city: z.string(), days: z.int().min(3) });
const question = 'How is the weather?';
const messages = [{ role: 'user' as const, content: question }];
const claude = { model: 'claude-test', max_tokens: 500, messages };
const city = { name: 'weather', description: 'Weather', input_schema: z.toJSONSchema(City) };

function aiModels(): Record<string, LanguageModel> {
  const { simulator } = stage;
  const openai = createOpenAI({ apiKey: 'sk', baseURL: simulator.baseUrl('openai') });
  const anthropic = createAnthropic({
    apiKey: 'sk-ant',
    baseURL: `${simulator.baseUrl('anthropic')}/v1`,
  });
  return {
    'OpenAI responses': openai('gpt-test'),
    'OpenAI chat': openai.chat('gpt-test'),
    Anthropic: anthropic('claude-sonnet-4-5'),
  };
}

const aiNames = ['OpenAI responses', 'OpenAI chat', 'Anthropic'];

/** In real time and in a batch: an answer must not depend on the way it came. */
const ways: Record<string, <T>(job: () => Promise<T>) => Promise<T>> = {
  'in real time': (job) => job(),
  'in a batch': (job) => batchify(job, stage.options()),
};

describe.each(Object.keys(ways))('%s, an answer follows the schema that is asked for by', (way) => {
  const go = ways[way] as <T>(job: () => Promise<T>) => Promise<T>;

  it("openai's chat completions", async () => {
    const completion = await go(() =>
      stage.openai().chat.completions.parse({
        model: 'gpt-test',
        messages,
        response_format: zodResponseFormat(Review, 'review'),
      }),
    );
    const parsed = completion.choices[0]?.message.parsed;
    expect(parsed).toMatchObject({ sentiment: 'positive', score: 1 });
    expect(parsed?.topics[0]?.name).toContain(question);
  });

  it("openai's responses", async () => {
    const response = await go(() =>
      stage.openai().responses.parse({
        model: 'gpt-test',
        input: question,
        text: { format: zodTextFormat(Review, 'review') },
      }),
    );
    expect(response.output_parsed?.topics[0]?.name).toContain(question);
  });

  it("Anthropic's output_config", async () => {
    const message = await go(() =>
      stage.anthropic().messages.parse({
        ...claude,
        output_config: { format: zodOutputFormat(Review) },
      }),
    );
    expect(Review.parse(message.parsed_output).topics[0]?.name).toContain(question);
  });

  it.each(aiNames)('generateObject of ai with %s', async (name) => {
    const model = aiModels()[name] as LanguageModel;
    const { object } = await go(() => generateObject({ model, schema: Review, prompt: question }));
    expect(object.topics[0]?.name).toContain(question);
  });
});

describe.each(Object.keys(ways))('%s, a tool is called that is demanded by', (way) => {
  const go = ways[way] as <T>(job: () => Promise<T>) => Promise<T>;

  it("openai's chat completions", async () => {
    const completion = await go(() =>
      stage.openai().chat.completions.parse({
        model: 'gpt-test',
        messages,
        tools: [
          zodFunction({ name: 'other', parameters: z.object({}) }),
          zodFunction({ name: 'weather', parameters: City }),
        ],
        tool_choice: { type: 'function', function: { name: 'weather' } },
      }),
    );
    const { finish_reason: reason, message } = completion.choices[0] ?? {};
    expect(reason).toBe('tool_calls');
    const call = message?.tool_calls?.[0]?.function;
    expect(call?.name).toBe('weather');
    expect(City.parse(call?.parsed_arguments).days).toBe(3);
  });

  it("openai's responses", async () => {
    const { output } = await go(() =>
      stage.openai().responses.create({
        model: 'gpt-test',
        input: question,
        tools: [
          { type: 'function', name: 'weather', strict: true, parameters: z.toJSONSchema(City) },
        ],
        tool_choice: 'required',
      }),
    );
    const call = output[0];
    if (call?.type !== 'function_call') throw new Error(`no call but ${call?.type}`);
    expect(City.parse(JSON.parse(call.arguments)).city).toContain(question);
  });

  it.each([{ type: 'any' as const }, { type: 'tool' as const, name: 'weather' }])(
    "Anthropic's tool_choice $type",
    async (choice) => {
      const message = await go(() =>
        stage.anthropic().messages.create({
          ...claude,
          tools: [city as never],
          tool_choice: choice,
        }),
      );
      expect(message.stop_reason).toBe('tool_use');
      const block = message.content[0];
      if (block?.type !== 'tool_use') throw new Error(`no call but ${block?.type}`);
      expect(City.parse(block.input).city).toContain(question);
    },
  );
});

describe.each(Object.keys(ways))(
  '%s, an agent uses its tool once and comes to an end with',
  (way) => {
    const go = ways[way] as <T>(job: () => Promise<T>) => Promise<T>;

    it.each(aiNames)('ai and %s', async (name) => {
      const model = aiModels()[name] as LanguageModel;
      const asked: string[] = [];
      const weather = aiTool({
        description: 'Weather',
        inputSchema: City,
        execute: async ({ city }) => {
          asked.push(city);
          return { degrees: 20 };
        },
      });
      const { text, steps } = await go(() =>
        generateText({ model, tools: { weather }, prompt: question, stopWhen: stepCountIs(9) }),
      );
      expect(text).toContain(`answer to "${question}"`);
      expect(steps).toHaveLength(2);
      expect(asked).toEqual([expect.stringContaining(question)]);
    });

    it.each([
      ['chat completions', OpenAIChatCompletionsModel],
      ['responses', OpenAIResponsesModel],
    ])('@openai/agents and %s', async (_name, Model) => {
      let calls = 0;
      const weather = tool({
        name: 'weather',
        description: 'Weather',
        parameters: City,
        execute: async () => {
          calls += 1;
          return 'sunny';
        },
      });
      const model = new Model(stage.openai() as never, 'gpt-test');
      const agent = new Agent({ name: 'Tester', model, tools: [weather] });
      const { finalOutput } = await go(() => run(agent, question));
      expect(finalOutput).toContain(question);
      expect(calls).toBe(1);
    });
  },
);

describe('the same, told as a stream, is understood by', () => {
  it("openai's chat completions", async () => {
    const stream = stage.openai().chat.completions.stream({
      model: 'gpt-test',
      messages,
      tools: [zodFunction({ name: 'weather', parameters: City })],
    });
    const completion = await stream.finalChatCompletion();
    expect(completion.choices[0]?.message.content).toBeNull();
    const call = completion.choices[0]?.message.tool_calls?.[0]?.function;
    expect(City.parse(call?.parsed_arguments).city).toContain(question);
  });

  it("openai's responses", async () => {
    const stream = stage.openai().responses.stream({
      model: 'gpt-test',
      input: question,
      tools: [
        { type: 'function', name: 'weather', strict: true, parameters: z.toJSONSchema(City) },
      ],
    });
    const pieces: string[] = [];
    stream.on('response.function_call_arguments.delta', ({ delta }) => pieces.push(delta));
    const { output } = await stream.finalResponse();
    expect(output[0]).toMatchObject({ type: 'function_call', arguments: pieces.join('') });
  });

  it("Anthropic's messages", async () => {
    const stream = stage.anthropic().messages.stream({ ...claude, tools: [city as never] });
    const { content, stop_reason: reason } = await stream.finalMessage();
    expect(reason).toBe('tool_use');
    expect(City.parse((content[0] as { input: unknown }).input).city).toContain(question);
  });

  it.each(aiNames)('ai with %s, to the end of the agent', async (name) => {
    const model = aiModels()[name] as LanguageModel;
    const weather = aiTool({ inputSchema: City, execute: async () => 'sunny' });
    const result = streamText({
      model,
      tools: { weather },
      prompt: question,
      stopWhen: stepCountIs(9),
    });
    let text = '';
    for await (const piece of result.textStream) text += piece;
    expect(text).toContain(question);
    expect(await result.steps).toHaveLength(2);
  });
});

it('says nothing of tools that may not be called', async () => {
  const completion = await stage.openai().chat.completions.create({
    model: 'gpt-test',
    messages,
    tools: [zodFunction({ name: 'weather', parameters: City })],
    tool_choice: 'none',
  });
  expect(completion.choices[0]?.message).not.toHaveProperty('tool_calls');
});

it('tells the caller of a schema that it cannot follow', async () => {
  const Plate = z.object({ plate: z.string().regex(/^[QX]{3}-\d{9}$/) });
  const asking = stage.openai({ maxRetries: 0 }).chat.completions.parse({
    model: 'gpt-test',
    messages,
    response_format: zodResponseFormat(Plate, 'plate'),
  });
  await expect(asking).rejects.toThrow('cannot follow the schema at plate');
});
