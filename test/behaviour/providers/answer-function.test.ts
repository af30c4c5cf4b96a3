import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { batchify } from '../../../src/index.ts';
import type { AnswerFunction, SimulatedRequest } from '../../../src/simulator/index.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

function script(answer: AnswerFunction): void {
  stage.simulator.configure({ answer });
}

const userTurn = (content: string) => [{ role: 'user' as const, content }];
const none = { maxRetries: 0 };

/** Each asks one question and says what the answer's text is. */
const askers: Record<string, (content: string) => Promise<string>> = {
  'chat completions': async (content) => {
    const request = { model: 'gpt-test', messages: userTurn(content) };
    const completion = await stage.openai(none).chat.completions.create(request);
    return completion.choices[0]?.message.content ?? '';
  },
  responses: async (content) => {
    const request = { model: 'gpt-test', input: content };
    return (await stage.openai(none).responses.create(request)).output_text;
  },
  messages: async (content) => {
    const request = { model: 'claude-test', max_tokens: 99, messages: userTurn(content) };
    const { content: blocks } = await stage.anthropic(none).messages.create(request);
    return blocks[0]?.type === 'text' ? blocks[0].text : '';
  },
};
const ways: Record<string, <T>(job: () => Promise<T>) => Promise<T>> = {
  'in real time': (job) => job(),
  'in a batch': (job) => batchify(job, stage.options({ attempts: 1 })),
};
const combinations = Object.keys(askers).flatMap((endpoint) =>
  Object.keys(ways).map((way) => [endpoint, way] as const),
);

function asking(endpoint: string, way: string) {
  const ask = askers[endpoint] as (typeof askers)[string];
  const go = ways[way] as (typeof ways)[string];
  return (content: string) => go(() => ask(content));
}

describe.each(combinations)('an answer function of %s %s', (endpoint, way) => {
  const ask = asking(endpoint, way);

  it('sees the request, and its text becomes a well-formed answer', async () => {
    const seen: SimulatedRequest[] = [];
    script((request) => {
      seen.push(request);
      return `no. ${request.asked} of ${request.prompt}`;
    });
    expect(await ask('why?')).toBe('no. 1 of why?');
    const [provider, path] = {
      'chat completions': ['openai', '/v1/chat/completions'] as const,
      responses: ['openai', '/v1/responses'] as const,
      messages: ['anthropic', '/v1/messages'] as const,
    }[endpoint] ?? ['', ''];
    expect(seen).toMatchObject([
      {
        provider,
        endpoint: path,
        model: provider === 'openai' ? 'gpt-test' : 'claude-test',
        prompt: 'why?',
        mode: way === 'in a batch' ? 'batch' : 'realtime',
        body: { model: expect.any(String) },
      },
    ]);
  });

  it('may take its time, for all requests at once', async () => {
    let waiting = 0;
    let together = () => {};
    const all = new Promise<void>((resolve) => {
      together = resolve;
    });
    script(async ({ prompt }) => {
      waiting += 1;
      if (waiting === 5) together();
      await all;
      return prompt.toUpperCase();
    });
    const go = ways[way] as (typeof ways)[string];
    const prompts = ['a', 'b', 'c', 'd', 'e'];
    const answers = await go(() =>
      Promise.all(prompts.map(askers[endpoint] as (typeof askers)[string])),
    );
    expect(answers).toEqual(['A', 'B', 'C', 'D', 'E']);
  });

  it('leaves the ordinary answer by returning nothing', async () => {
    script(() => undefined);
    expect(await ask('why?')).toContain('answer to "why?"');
  });

  it('fails with a status and a message in the shape of the provider', async () => {
    script(() => ({ status: 422, body: 'Not this one.' }));
    const { APIError } = endpoint === 'messages' ? Anthropic : OpenAI;
    const error = await ask('why?').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(APIError);
    // A line of an Anthropic batch carries no status, only a type; one that is unknown counts as 400.
    const lost = endpoint === 'messages' && way === 'in a batch';
    expect(error).toMatchObject({ status: lost ? 400 : 422 });
    expect(String(error)).toContain('Not this one.');
    expect(stage.simulator.meter).toMatchObject({ total: 0, failed: 1 });
  });

  it('that throws is named to the caller and in a warning', async () => {
    // Other code of this process may warn, too.
    const warnings: string[] = [];
    const note = ({ name, message }: Error) => warnings.push(`${name}: ${message}`);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    script(({ prompt }) => {
      throw new RangeError(`no answer to ${prompt}`);
    });
    const told = "The simulator's answer function failed: RangeError: no answer to why?";
    await expect(ask('why?')).rejects.toThrow(told);
    await until(() => warnings.includes(`SimulatorWarning: ${told}`), 'the warning');
  });
});

it('counts how often a prompt was asked, so that a first try can fail', async () => {
  script(({ asked, prompt }) => (asked === 1 ? { status: 503 } : `${prompt}, at last`));
  const ask = askers['chat completions'] as (typeof askers)[string];
  const answers = await batchify(() => Promise.all(['a', 'b'].map(ask)), stage.options());
  expect(answers).toEqual(['a, at last', 'b, at last']);
  expect(stage.simulator.meter).toMatchObject({ batched: 2, failed: 2 });
});

it.each(Object.keys(ways))('takes an object as the response body %s', async (way) => {
  script(() => ({ id: 'mine', choices: [], extra: { nested: [1, 'two'] } }));
  const go = ways[way] as (typeof ways)[string];
  const request = { model: 'gpt-test', messages: userTurn('why?') };
  const completion = await go(() => stage.openai().chat.completions.create(request));
  expect(completion).toMatchObject({ id: 'mine', choices: [], extra: { nested: [1, 'two'] } });
});

it.each(Object.keys(ways))('takes an object as the error body %s', async (way) => {
  const error = { message: 'Too long', type: 'mine', param: 'input', code: 'context_too_long' };
  script(() => ({ status: 400, body: { error } }));
  const thrown = await asking('chat completions', way)('why?').catch((reason: unknown) => reason);
  expect(thrown).toMatchObject({ status: 400, code: 'context_too_long', param: 'input' });
});

it.each(Object.keys(ways))('calls the tools that it names %s', async (way) => {
  const toolCalls = [
    { name: 'look', arguments: { at: 'sky' } },
    { name: 'listen', arguments: {} },
  ];
  script(() => ({ toolCalls, text: 'Let me see.' }));
  const go = ways[way] as (typeof ways)[string];
  const request = { model: 'gpt-test', messages: userTurn('why?') };
  const completion = await go(() => stage.openai().chat.completions.create(request));
  const message = completion.choices[0]?.message;
  expect(message?.content).toBe('Let me see.');
  expect(message?.tool_calls).toMatchObject([
    { type: 'function', function: { name: 'look', arguments: '{"at":"sky"}' } },
    { type: 'function', function: { name: 'listen', arguments: '{}' } },
  ]);
  const asked = { model: 'claude-test', max_tokens: 99, messages: userTurn('why?') };
  const { content } = await go(() => stage.anthropic().messages.create(asked));
  expect(content).toMatchObject([
    { type: 'text', text: 'Let me see.' },
    { type: 'tool_use', name: 'look', input: { at: 'sky' } },
    { type: 'tool_use', name: 'listen', input: {} },
  ]);
});

it.each([
  ['a number', 7, 'it returned 7'],
  ['null', null, 'it returned null'],
  ['a list', ['a'], 'it returned a list'],
  ['a status that does not exist', { status: 42 }, 'it returned the status 42'],
  ['a tool call without a name', { toolCalls: [{ arguments: {} }] }, 'it returned the tool call {'],
  ['what JSON cannot hold', { big: 1n }, 'BigInt'],
])('names the mistake of returning %s', async (_name, answer, told) => {
  script(() => answer as never);
  await expect(asking('chat completions', 'in real time')('why?')).rejects.toThrow(told);
  await expect(asking('chat completions', 'in a batch')('why?')).rejects.toThrow(told);
});

it('answers embeddings with numbers, and not with a text', async () => {
  const embed = () => stage.openai(none).embeddings.create({ model: 'embed', input: ['a'] });
  script(() => 'text');
  await expect(embed()).rejects.toThrow('returned a text for /v1/embeddings');
  script(() => ({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1, 2] }] }));
  expect((await embed()).data[0]?.embedding).toEqual([1, 2]);
});

it('is forgotten by a reset, also if it is just thinking', async () => {
  let answerNow = (_text: string) => {};
  const called = new Promise<void>((resolve) => {
    script(() => {
      resolve();
      return new Promise((settle) => {
        answerNow = settle;
      });
    });
  });
  const asked = asking('chat completions', 'in real time')('why?');
  await called;
  stage.simulator.reset();
  await expect(asked).rejects.toThrow('Connection error');
  answerNow('too late');
  expect(await asking('chat completions', 'in real time')('why?')).toContain('answer to "why?"');
  expect(stage.simulator.meter.total).toBe(1);
});

it('is refused if it is no function', () => {
  expect(() => stage.simulator.configure({ answer: 'hello' as never })).toThrow(
    "'answer' must be a function or null: hello",
  );
});
