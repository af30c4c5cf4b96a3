import { APIError } from 'openai';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import { DashScopeBatcher } from './dashscope-batcher.ts';

batcherConformance({
  batcher: new DashScopeBatcher(),
  path: '/chat/completions',
  body: (prompt) => ({ model: 'test-model', messages: [{ role: 'user', content: prompt }] }),
  requests: {
    create: '/compatible-mode/v1/batches',
    upload: '/compatible-mode/v1/files',
    results: /\/content$/,
  },
  sdkError: ({ status, headers, body }) =>
    APIError.generate(status, JSON.parse(body), undefined, new Headers(headers)),
});
