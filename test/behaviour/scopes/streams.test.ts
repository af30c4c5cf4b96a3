import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { OpenAIBatcher, openaiInfo } from '../../../src/batchers/index.ts';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { allOf } from '../../support/all-of.ts';
import { ask, askClaude, chatRequest } from '../../support/ask.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon } from '../../support/until.ts';

let stage: Stage;
let options: BatchifyOptions;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => {
  stage.simulator.reset();
  // A call that went out at full price would fail here.
  options = stage.options({ bypass: 'error' });
});
afterEach(() => vi.unstubAllEnvs());

/** A launch of its own, in this process. */
function launch<T>(run: string, fn: () => Promise<T>): Promise<T> {
  vi.stubEnv('BATCHLING_RUN', run);
  return soon(batchify(fn, options));
}

function chat(content: string): OpenAI.ChatCompletionCreateParamsNonStreaming {
  return { model: 'gpt-test', messages: [{ role: 'user', content }] };
}

function claude(content: string): Anthropic.MessageCreateParamsNonStreaming {
  return { model: 'claude-test', max_tokens: 64, messages: [{ role: 'user', content }] };
}

/** The text of an answer, asked for as a stream and read as it comes. */
const streamed = {
  async chat(content: string): Promise<string> {
    const body = { ...chat(content), stream: true } as const;
    const chunks = await allOf(await stage.openai().chat.completions.create(body));
    return chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
  },
  async response(input: string): Promise<string> {
    const body = { model: 'gpt-test', input, stream: true } as const;
    const events = await allOf(await stage.openai().responses.create(body));
    return events
      .map((event) => (event.type === 'response.output_text.delta' ? event.delta : ''))
      .join('');
  },
  async message(content: string): Promise<string> {
    const body = { ...claude(content), stream: true } as const;
    const events = await allOf(await stage.anthropic().messages.create(body));
    return events
      .map((event) =>
        event.type === 'content_block_delta' && event.delta.type === 'text_delta'
          ? event.delta.text
          : '',
      )
      .join('');
  },
};

/** The same answer without a stream. */
const plain: Record<keyof typeof streamed, (content: string) => Promise<string>> = {
  chat: (content) => ask(stage.openai(), content),
  response: async (input) =>
    (await stage.openai().responses.create({ model: 'gpt-test', input })).output_text,
  message: (content) => askClaude(stage.anthropic(), content),
};

const kinds = Object.keys(streamed) as (keyof typeof streamed)[];

describe.each(kinds)('a streamed %s', (kind) => {
  it('travels in a batch and is read as a stream', async () => {
    const texts = await launch('one', () =>
      Promise.all(['one', 'two'].map((content) => streamed[kind](content))),
    );
    expect(texts[0]).toContain('answer to "one"');
    expect(texts[1]).toContain('answer to "two"');
    expect(stage.simulator.meter).toMatchObject({ total: 2, realtime: 0 });
    expect(stage.simulator.requests.filter(({ path }) => path.endsWith('/batches'))).not.toEqual(
      [],
    );
  });

  it('shares its answer with a plain call of a later run, and the other way round', async () => {
    const first = await launch('first', () =>
      Promise.all([streamed[kind]('one'), plain[kind]('two')]),
    );
    const second = await launch('second', () =>
      Promise.all([plain[kind]('one'), streamed[kind]('two')]),
    );
    const third = await launch('third', () =>
      Promise.all([streamed[kind]('one'), plain[kind]('two')]),
    );
    expect(first[0]).toContain('answer to "one"');
    expect(second).toEqual(first);
    expect(third).toEqual(first);
    expect(stage.simulator.meter.total).toBe(2);
  });
});

describe("the SDKs' own helpers", () => {
  it('put a chat together as it would have been without a stream, usage included', async () => {
    const body = {
      ...chat('hello'),
      stream: true,
      stream_options: { include_usage: true },
    } as const;
    const told = await launch('one', () =>
      stage.openai().chat.completions.stream(body).finalChatCompletion(),
    );
    const same = await launch('two', () => stage.openai().chat.completions.create(chat('hello')));
    expect(told).toMatchObject(same);
    expect(told.usage?.total_tokens).toBeGreaterThan(0);
    expect(stage.simulator.meter.total).toBe(1);
  });

  it('put a response together', async () => {
    const body = { model: 'gpt-test', input: 'hello' };
    const told = await launch('one', () => stage.openai().responses.stream(body).finalResponse());
    const same = await launch('two', () => stage.openai().responses.create(body));
    expect(told).toMatchObject(same);
  });

  it('put a message together', async () => {
    const told = await launch('one', () =>
      stage.anthropic().messages.stream(claude('hello')).finalMessage(),
    );
    const same = await launch('two', () => stage.anthropic().messages.create(claude('hello')));
    expect(told).toMatchObject(same);
    expect(told.usage.service_tier).toBe('batch');
  });
});

describe('a streamed call that fails', () => {
  it.each([
    ['chat', OpenAI.BadRequestError],
    ['response', OpenAI.BadRequestError],
    ['message', Anthropic.BadRequestError],
  ] as const)(
    "raises the SDK's own error for a %s, before anything is read",
    async (kind, type) => {
      const asking = launch('one', () => streamed[kind]('bad [[status 400]]'));
      await expect(asking).rejects.toBeInstanceOf(type);
      await expect(asking).rejects.toThrow('simulated status 400');
      expect(stage.simulator.meter.failed).toBe(1);
    },
  );

  it('has a status and a JSON body', async () => {
    const request = chatRequest('x');
    const body = JSON.stringify({ ...chat('[[status 400]]'), stream: true });
    const response = await launch('one', () => fetch(chatUrl(stage), { ...request, body }));
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining('simulated status 400') },
    });
  });
});

describe('the stream of a captured call', () => {
  it('is a response of its kind that says where it came from', async () => {
    const request = chatRequest('x');
    const body = JSON.stringify({ ...chat('hello'), stream: true });
    const response = await launch('one', () => fetch(chatUrl(stage), { ...request, body }));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('x-batchling-source')).toBe('batch');
    expect(await response.text()).toMatch(/^data: .*\n\ndata: \[DONE\]\n\n$/s);
  });

  it('is counted with its tokens, like any other answer', async () => {
    const scope = batchify(options);
    await scope.run(() => streamed.chat('hello'));
    await scope.close();
    expect(scope.stats).toMatchObject({ captured: 1, answered: 1, bypassed: 0 });
    expect(scope.stats.tokens.output).toBeGreaterThan(0);
  });
});

describe('a batcher of the user', () => {
  /** Streams a chat of the simulator's through a batcher that tells it like this. */
  async function stream(tell: () => string, content = 'hello'): Promise<Response> {
    class Mine extends OpenAIBatcher {
      override readonly info = { ...openaiInfo, name: 'mine' };
      protected override dialect() {
        return () => ({ status: 200, headers: { 'content-type': 'text/plain' }, body: tell() });
      }
    }
    const hosts = { [stage.simulator.baseUrl('openai')]: 'mine' } as const;
    options = stage.options({ batchers: [Mine], hosts });
    const body = JSON.stringify({ ...chat(content), stream: true });
    return launch('one', () => fetch(chatUrl(stage), { ...chatRequest('x'), body }));
  }

  it('tells a stream in its own dialect', async () => {
    const response = await stream(() => 'once upon a time');
    expect(response.headers.get('content-type')).toBe('text/plain');
    expect(await response.text()).toBe('once upon a time');
  });

  it('is not asked to tell an error', async () => {
    const response = await stream(() => 'all is well', '[[status 400]]');
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('simulated status 400');
  });

  it('leaves nobody waiting when its dialect throws', async () => {
    const response = await stream(() => {
      throw new Error('lost for words');
    });
    expect(response.status).toBe(400);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await response.json()).toMatchObject({
      error: { type: 'batchling_unsupported', message: expect.stringContaining('lost for words') },
    });
  });
});
