import { expect, it } from 'vitest';
import { errorCodeOf } from './error-code.ts';

const answer = (body: unknown, status = 429) => ({
  status,
  headers: {},
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

it.each([
  [{ error: { code: 'rate_limit_exceeded', type: 'requests', message: 'Slow down.' } }],
  [{ error: { code: null, type: 'rate_limit_exceeded' } }],
  [{ type: 'error', error: { type: 'rate_limit_exceeded', message: 'Slow down.' } }],
  [{ error: { code: 429, status: 'rate_limit_exceeded' } }],
  [[{ error: { code: 429, status: 'rate_limit_exceeded' } }]],
  [{ code: 'rate_limit_exceeded', message: 'Slow down.' }],
  [{ error: 'rate_limit_exceeded' }],
])('the name of an error is found in %j', (body) => {
  expect(errorCodeOf(answer(body))).toBe('rate_limit_exceeded');
});

it('nothing else is taken for one', () => {
  expect(errorCodeOf(answer('not JSON'))).toBeUndefined();
  expect(errorCodeOf(answer({ error: { message: 'Slow down.' } }))).toBeUndefined();
  expect(errorCodeOf(answer({ error: 'a sentence of the provider' }))).toBeUndefined();
  expect(errorCodeOf(answer({ error: { type: 'x' } }, 200))).toBeUndefined();
});
