import { APIError } from 'openai';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import { OVHcloudBatcher } from './ovhcloud-batcher.ts';

batcherConformance({
  batcher: new OVHcloudBatcher(),
  path: '/chat/completions',
  body: (prompt) => ({ model: 'test-model', messages: [{ role: 'user', content: prompt }] }),
  requests: { create: '/v1/batches', upload: '/v1/files', results: /\/content$/ },
  sdkError: ({ status, headers, body }) =>
    APIError.generate(status, JSON.parse(body), undefined, new Headers(headers)),
});
