import createInstructor from '@instructor-ai/instructor';
import OpenAI from 'openai';
import { afterAll, beforeAll, vi } from 'vitest';
import { z } from 'zod';
import { type AskOptions, clientCases } from '../../support/clients/client-cases.ts';

// It prints every error with the whole request.
beforeAll(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});
afterAll(() => vi.restoreAllMocks());

const schema = z.object({ answer: z.string() });

/** Asks for an object with the answer in it, or for a stream of ever more complete ones. */
function ask<Result>(content: string, options: AskOptions, more: object = {}): Promise<Result> {
  const { simulator, signal, timeout } = options;
  const client = new OpenAI({
    apiKey: 'sk-test-key',
    baseURL: simulator.baseUrl('openai'),
    ...(timeout !== undefined && { timeout }),
  });
  const instructor = createInstructor({ client: client as never, mode: 'JSON' });
  const messages = [{ role: 'user', content }];
  const question = {
    model: 'gpt-test',
    messages,
    response_model: { schema, name: 'Answer' },
    ...more,
  };
  // Its types are those of the openai and zod versions it was built with.
  return instructor.chat.completions.create(
    question as never,
    { ...(signal && { signal }) } as never,
  ) as Promise<Result>;
}

clientCases({
  name: '@instructor-ai/instructor',
  packages: ['@instructor-ai/instructor'],
  ask: async (content, options) => (await ask<{ answer: string }>(content, options)).answer,
  async stream(content, options) {
    let text = '';
    type Partials = AsyncIterable<{ answer?: string }>;
    for await (const { answer } of await ask<Partials>(content, options, { stream: true })) {
      text = answer ?? text;
    }
    return text;
  },
  statusOf: (error) => (error instanceof OpenAI.APIError ? error.status : undefined),
});
