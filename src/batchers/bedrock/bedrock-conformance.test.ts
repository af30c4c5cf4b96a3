import { describe } from 'vitest';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import { BedrockBatcher } from './bedrock-batcher.ts';

const subject = {
  batcher: new BedrockBatcher(),
  settings: {
    bucket: 's3://conformance/folder',
    roleArn: 'arn:aws:iam::123456789012:role/batches',
    region: 'us-east-1',
  },
  simulatorSettings: { limits: { bedrock: { leastRequestsPerBatch: 1 } } },
  requests: {
    create: '/model-invocation-job',
    list: '/model-invocation-jobs',
    poll: /^\/model-invocation-job\/[^/]+$/,
    cancel: /\/stop$/,
    results: /input\.jsonl\.out$/,
    upload: /input\.jsonl$/,
  },
};

const skip = {
  'a call without a model is left alone': 'the model is part of the path',
  'without an answer (expired) is no answer': 'a record that was not run has no row',
  'without an answer (canceled) is no answer': 'a record that was not run has no row',
};

describe('of InvokeModel', () => {
  batcherConformance({
    ...subject,
    path: '/model/us.anthropic.claude-test-v1%3A0/invoke',
    model: 'us.anthropic.claude-test-v1:0',
    body: (content) => ({
      anthropic_version: 'bedrock-2023-05-31',
      max_tokens: 50,
      messages: [{ role: 'user', content }],
    }),
    skip,
  });
});

describe('of Converse', () => {
  batcherConformance({
    ...subject,
    path: '/model/us.amazon.nova-test-v1%3A0/converse',
    model: 'us.amazon.nova-test-v1:0',
    body: (text) => ({ messages: [{ role: 'user', content: [{ text }] }] }),
    skip,
  });
});

describe("of OpenAI's chat completions", () => {
  batcherConformance({
    ...subject,
    path: '/openai/v1/chat/completions',
    body: (content) => ({
      model: 'openai.gpt-oss-test-1:0',
      messages: [{ role: 'user', content }],
    }),
    requests: {
      create: '/openai/v1/batches',
      results: /input\.jsonl\.(out|err)$/,
      upload: /input\.jsonl$/,
    },
  });
});
