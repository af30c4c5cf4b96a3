import { expect, it } from 'vitest';
import { operationName, providerName } from './semantic-names.ts';

it.each([
  ['bedrock', 'aws.bedrock'],
  ['google', 'gcp.gemini'],
  ['groq', 'groq'],
  ['novita', 'novita'],
])('%s is called %s', (provider, name) => {
  expect(providerName(provider)).toBe(name);
});

it.each([
  ['/v1/chat/completions', 'chat'],
  ['/v1/completions', 'text_completion'],
  ['/v1/messages', 'chat'],
  ['/v1/agent', 'chat'],
  ['Converse', 'chat'],
  ['InvokeModel', 'chat'],
  ['InvokeModel', 'embeddings', 'amazon.titan-embed-text-v2:0'],
  ['/v1beta:generateContent', 'generate_content'],
  ['/v1beta:embedContent', 'embeddings'],
  ['/v1/rerank', 'rerank'],
])('a request to %s is called %s', (endpoint, name, model = 'a-model') => {
  expect(operationName(endpoint, model)).toBe(name);
});
