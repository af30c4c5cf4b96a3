import { APIError } from 'groq-sdk';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import { GroqBatcher } from './groq-batcher.ts';

batcherConformance({
  batcher: new GroqBatcher(),
  path: '/chat/completions',
  body: (prompt) => ({ model: 'llama-test', messages: [{ role: 'user', content: prompt }] }),
  requests: { create: '/openai/v1/batches', upload: '/openai/v1/files', results: /\/content$/ },
  sdkError: ({ status, headers, body }) =>
    APIError.generate(status, JSON.parse(body), undefined, new Headers(headers)),
});
