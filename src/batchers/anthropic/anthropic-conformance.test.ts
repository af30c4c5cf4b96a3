import { APIError } from '@anthropic-ai/sdk';
import { describe } from 'vitest';
import { signedBy } from '../aws/aws-identity.ts';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import type { BatcherSubject } from '../conformance/subject.test-helper.ts';
import { AnthropicBatcher } from './anthropic-batcher.ts';

const anthropic: BatcherSubject = {
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
};

batcherConformance(anthropic);

describe('on AWS', () => {
  batcherConformance({
    ...anthropic,
    callHeaders: (key) => ({
      authorization: signedBy(key),
      'anthropic-workspace-id': 'wrkspc_1',
    }),
  });
});
