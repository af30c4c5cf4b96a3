import { APIError } from 'openai';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import { VoyageBatcher } from './voyage-batcher.ts';

batcherConformance({
  batcher: new VoyageBatcher(),
  path: '/embeddings',
  body: (prompt) => ({ model: 'voyage-test', input: [prompt] }),
  requests: { create: '/v1/batches', upload: '/v1/files', results: /\/content$/ },
  sdkError: ({ status, headers, body }) =>
    APIError.generate(status, JSON.parse(body), undefined, new Headers(headers)),
  skip: {
    'a body travels byte for byte, on one line': 'only the texts are in a line: see below',
    'has an answer for each id, with its tokens':
      'vectors do not tell what was asked, nor cost output',
  },
});
