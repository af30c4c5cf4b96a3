import { expect, it } from 'vitest';
import { rpcStatus } from './rpc-status.ts';
import { statusByWords } from './status-by-words.ts';

it.each([
  [0, 'OK', 200],
  [1, 'CANCELLED', 499],
  [3, 'INVALID_ARGUMENT', 400],
  [8, 'RESOURCE_EXHAUSTED', 429],
  [16, 'UNAUTHENTICATED', 401],
  [17, 'UNKNOWN', 500],
  [-1, 'UNKNOWN', 500],
])('the gRPC status %i is %s, in HTTP %i', (code, name, status) => {
  expect(rpcStatus(code)).toEqual({ name, status });
});

it.each([
  ['The model is overloaded: the request is not invalid', 503],
  ['Rate-limit reached', 429],
  ['Unauthorized', 401],
  ['Forbidden', 403],
  ['Not Found', 404],
  ['Conflict', 409],
  ['Request Entity Too Large', 413],
  ['Unprocessable Content', 422],
  ['messages must be a list', 400],
  ['The worker went away', 500],
  ['', 500],
])('the words "%s" mean %i', (message, status) => {
  expect(statusByWords(message)).toBe(status);
});
