import { APIError } from 'openai';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import { DoublewordBatcher } from './doubleword-batcher.ts';

batcherConformance({
  batcher: new DoublewordBatcher(),
  path: '/chat/completions',
  body: (prompt) => ({ model: 'qwen-test', messages: [{ role: 'user', content: prompt }] }),
  requests: { create: '/v1/batches', upload: '/v1/files', results: /\/content$/ },
  sdkError: ({ status, headers, body }) =>
    APIError.generate(status, JSON.parse(body), undefined, new Headers(headers)),
  skip: {
    'without an answer (canceled) is no answer': 'a cancelled request has no line there',
  },
});
