import { APIError } from 'openai';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import { NovitaBatcher } from './novita-batcher.ts';

batcherConformance({
  batcher: new NovitaBatcher(),
  path: '/chat/completions',
  body: (prompt) => ({ model: 'test-model', messages: [{ role: 'user', content: prompt }] }),
  requests: { create: '/openai/v1/batches', upload: '/openai/v1/files', results: /\/content$/ },
  sdkError: ({ status, headers, body }) =>
    APIError.generate(status, JSON.parse(body), undefined, new Headers(headers)),
});
