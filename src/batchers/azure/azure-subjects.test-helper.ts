import type { BatcherSubject } from '../conformance/subject.test-helper.ts';
import { AzureOpenAIBatcher } from './azure-batcher.ts';

/** The API below `/openai/v1`. */
export const newerAzure: BatcherSubject = {
  batcher: new AzureOpenAIBatcher(),
  path: '/chat/completions',
  body: (prompt) => ({ model: 'gpt-test', messages: [{ role: 'user', content: prompt }] }),
  settings: { deployments: { 'gpt-test': 'gpt-test', 'gpt-online': 'gpt-batch' } },
  requests: { create: '/openai/v1/batches', upload: '/openai/v1/files', results: /\/content$/ },
};

function olderAzureWith(version: string): BatcherSubject {
  return {
    ...newerAzure,
    path: '/deployments/gpt-test/chat/completions',
    query: `?api-version=${version}`,
    base: `/openai?api-version=${version}`,
    requests: { create: '/openai/batches', upload: '/openai/files', results: /\/content$/ },
  };
}

/** The API below `/openai`. */
export const olderAzure: BatcherSubject = olderAzureWith('2025-04-01-preview');

/** The same with capitalised statuses, dates and lists of its own. */
export const earlyAzure: BatcherSubject = olderAzureWith('2024-07-01-preview');
