import { createOpenAI } from '@ai-sdk/openai';
import { generateText } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { ask, askClaude, chatRequest } from '../../support/ask.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const clients: [string, () => Promise<unknown>][] = [
  ['fetch', () => fetch(chatUrl(stage), chatRequest('hello'))],
  ['openai', () => ask(stage.openai({ maxRetries: 1 }), 'hello')],
  ['@anthropic-ai/sdk', () => askClaude(stage.anthropic({ maxRetries: 1 }), 'hello')],
  [
    'ai',
    () => {
      const provider = createOpenAI({
        apiKey: 'sk-test-key',
        baseURL: stage.simulator.baseUrl('openai'),
      });
      return generateText({ model: provider.chat('gpt-test'), prompt: 'hello', maxRetries: 1 });
    },
  ],
];

/** Clients make errors of their own of it: timeouts, lost connections, after some retries. */
describe.each(clients)('the signal of a scope, with %s', (_, call) => {
  it.each([
    ['a reason of its own', new Error('enough for today')],
    ['the usual reason', undefined],
  ])('rejects batchify with %s', async (_name, given) => {
    const controller = new AbortController();
    const { signal } = controller;
    let captured = 0;
    const asked = batchify(
      () => {
        const answer = call();
        captured += 1;
        return answer;
      },
      stage.options({ signal, window: '1h', maxWindow: '1h' }),
    );
    await until(() => captured === 1, 'the call');
    await new Promise((resolve) => setTimeout(resolve, 30));
    controller.abort(given);
    await expect(soon(asked)).rejects.toBe(signal.reason);
    expect(stage.simulator.requests).toEqual([]);
  });
});

it('returns what a function returns that has handled the abort', async () => {
  const controller = new AbortController();
  const asked = batchify(
    () => Promise.allSettled([fetch(chatUrl(stage), chatRequest('hello'))]),
    stage.options({ signal: controller.signal, window: '1h', maxWindow: '1h' }),
  );
  controller.abort('enough');
  expect(await soon(asked)).toEqual([{ status: 'rejected', reason: 'enough' }]);
});

it('of the scope around it rejects a nested one, too', async () => {
  const controller = new AbortController();
  const options = stage.options({ signal: controller.signal, window: '1h', maxWindow: '1h' });
  const asked = batchify(
    () => batchify(() => ask(stage.openai({ maxRetries: 0 }), 'hello')),
    options,
  );
  controller.abort('enough');
  await expect(soon(asked)).rejects.toBe('enough');
});
