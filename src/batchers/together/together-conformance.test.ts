import { APIError } from 'together-ai';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import { TogetherBatcher } from './together-batcher.ts';

batcherConformance({
  batcher: new TogetherBatcher(),
  path: '/chat/completions',
  body: (prompt) => ({
    model: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
    messages: [{ role: 'user', content: prompt }],
  }),
  requests: { create: '/v1/batches', upload: '/v1/files', results: /\/content$/ },
  sdkError: ({ status, headers, body }) =>
    APIError.generate(status, JSON.parse(body), undefined, new Headers(headers)),
  skip: {
    'that is an empty list does not prove that a batch is absent': 'a bare [] is its empty list',
  },
});
