import { APIError } from 'openai';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import { DeepInfraBatcher } from './deepinfra-batcher.ts';

batcherConformance({
  batcher: new DeepInfraBatcher(),
  path: '/chat/completions',
  body: (prompt) => ({ model: 'test-model', messages: [{ role: 'user', content: prompt }] }),
  requests: { create: '/v1/openai/batches', upload: '/v1/openai/files', results: /\/content$/ },
  sdkError: ({ status, headers, body }) =>
    APIError.generate(status, JSON.parse(body), undefined, new Headers(headers)),
});
