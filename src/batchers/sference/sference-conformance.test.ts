import { APIError } from 'openai';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import { SferenceBatcher } from './sference-batcher.ts';

batcherConformance({
  batcher: new SferenceBatcher(),
  path: '/chat/completions',
  body: (prompt) => ({ model: 'org/model', messages: [{ role: 'user', content: prompt }] }),
  requests: { create: '/v1/batches', results: /\/results\.jsonl$/ },
  sdkError: ({ status, headers, body }) =>
    APIError.generate(status, JSON.parse(body), undefined, new Headers(headers)),
  skip: {
    'that fails as a whole says so': 'a failed batch has no reason of its own',
    'that expires has answers for what has run, and says why the rest has none':
      'there is no word for a batch that expires',
    'without an answer (expired) is no answer': 'there is no word for a row that expires',
  },
});
