import { APIError } from '@perplexity-ai/perplexity_ai';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import { PerplexityBatcher } from './perplexity-batcher.ts';

batcherConformance({
  batcher: new PerplexityBatcher(),
  path: '/agent',
  body: (prompt) => ({ model: 'test-model', input: prompt }),
  requests: { create: '/v1/batches', upload: '/v1/files', results: /\/content$/ },
  sdkError: ({ status, headers, body }) =>
    APIError.generate(status, JSON.parse(body), undefined, new Headers(headers)),
});
