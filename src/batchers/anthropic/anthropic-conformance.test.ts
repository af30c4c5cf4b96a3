import { APIError } from '@anthropic-ai/sdk';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import { AnthropicBatcher } from './anthropic-batcher.ts';

batcherConformance({
  batcher: new AnthropicBatcher(),
  path: '/messages',
  body: (prompt) => ({
    model: 'claude-test',
    max_tokens: 64,
    messages: [{ role: 'user', content: prompt }],
  }),
  requests: { create: '/v1/messages/batches', results: /\/results$/ },
  sdkError: ({ status, headers, body }) =>
    APIError.generate(status, JSON.parse(body), undefined, new Headers(headers)),
  skip: { 'that fails as a whole says so': 'what Anthropic has taken does not fail as a whole' },
});
