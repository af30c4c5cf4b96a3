import { APIError } from 'openai';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import { XaiBatcher } from './xai-batcher.ts';

batcherConformance({
  batcher: new XaiBatcher(),
  path: '/chat/completions',
  body: (prompt) => ({ model: 'grok-4.3', messages: [{ role: 'user', content: prompt }] }),
  requests: { create: '/v1/batches', upload: '/v1/files', results: /\/results$/ },
  sdkError: ({ status, headers, body }) =>
    APIError.generate(status, JSON.parse(body), undefined, new Headers(headers)),
  skip: {
    'with a status that nobody knows goes on': 'there is no status',
    'without an answer (expired) is no answer': 'what a batch did not get to has no row',
    'can be cancelled':
      'a cancelled batch is not believed for half a minute: see xai-batcher.test.ts',
  },
});
