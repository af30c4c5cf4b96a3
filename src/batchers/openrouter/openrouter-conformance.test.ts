import Anthropic from '@anthropic-ai/sdk';
import { APIError } from 'openai';
import { describe } from 'vitest';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import type { BatcherSubject } from '../conformance/subject.test-helper.ts';
import { OpenRouterBatcher } from './openrouter-batcher.ts';

const requests = { create: '/api/beta/batches', results: /^\/api\/beta\/batches\/[^/]+$/ };
const skip = {
  'can be cancelled': 'OpenRouter has no way to cancel a batch',
  'that was never accepted is not found among those of strangers':
    'its times are whole seconds: strangers of the same second stay candidates until they are read',
  'that are not there yet are an error that says so': 'results are in the batch itself',
};
const messages = (content: string) => [{ role: 'user', content }];

const subjects: Record<string, Omit<BatcherSubject, 'batcher' | 'requests' | 'skip'>> = {
  'chat completions': {
    path: '/chat/completions',
    body: (prompt) => ({ model: 'openai/gpt-test', messages: messages(prompt) }),
    sdkError: ({ status, headers, body }) =>
      APIError.generate(status, JSON.parse(body), undefined, new Headers(headers)),
  },
  responses: {
    path: '/responses',
    body: (prompt) => ({ model: 'openai/gpt-test', input: prompt }),
    sdkError: ({ status, headers, body }) =>
      APIError.generate(status, JSON.parse(body), undefined, new Headers(headers)),
  },
  messages: {
    path: '/messages',
    body: (prompt) => ({
      model: 'anthropic/claude-test',
      max_tokens: 64,
      messages: messages(prompt),
    }),
    sdkError: ({ status, headers, body }) =>
      Anthropic.APIError.generate(status, JSON.parse(body), undefined, new Headers(headers)),
  },
};

describe.each(Object.entries(subjects))('with %s', (_name, subject) => {
  batcherConformance({ ...subject, batcher: new OpenRouterBatcher(), requests, skip });
});
