import { describe, expect, it } from 'vitest';
import { judgeOpenAI } from '../openai/openai-judge.ts';
import { readTogetherLine } from './together-results.ts';

function read(line: object) {
  const text = JSON.stringify({ custom_id: 'r-1', ...line });
  return readTogetherLine(text, 'x-request-id', judgeOpenAI);
}

describe('a line with an error but no status', () => {
  it.each([
    ['invalid_model', 'Invalid model specified', 400],
    ['invalid_request', 'The parameter timeout must be a number', 400],
    ['context_length_exceeded', 'The prompt has too many tokens', 400],
    ['invalid_api_key', 'Wrong key', 401],
    ['permission_denied', 'Not for you', 403],
    ['model_not_found', 'No such model', 404],
    ['', 'The model does not exist', 404],
    [422, 'The body could not be processed', 422],
    ['422', 'The body could not be processed', 422],
  ])('is final by its words: %s, %s', (code, message, status) => {
    const row = read({ error: { message, code } });
    expect(row).toMatchObject({ id: 'r-1', outcome: { kind: 'answer', answer: { status } } });
    const { answer } = (row as { outcome: { answer: { body: string } } }).outcome;
    expect(JSON.parse(answer.body).error.message).toBe(message);
  });

  it.each([
    ['timeout', 'Request timeout', 'server', 504],
    ['rate_limit', 'Slow down', 'rate-limit', 429],
    ['', 'Too many requests, invalid now', 'rate-limit', 429],
    ['internal_error', 'Invalid state', 'server', 500],
    ['service_unavailable', 'Not now', 'server', 503],
    [503, 'Not now', 'server', 503],
  ])('is tried again by its words: %s, %s', (code, message, reason, status) => {
    const outcome = { kind: 'retry', reason, last: { status } };
    expect(read({ error: { message, code } })).toMatchObject({ id: 'r-1', outcome });
  });

  it.each([
    [{ message: 'Something odd', code: 'quux' }],
    [{ message: 'Something odd' }],
    ['odd'],
    [null],
    [undefined],
  ])('never ran if nobody knows its words: %j', (error) => {
    const outcome = { kind: 'retry', reason: 'never-ran' };
    expect(read({ error })).toMatchObject({ id: 'r-1', outcome });
  });

  it.each([
    ['expired', 'expired'],
    ['batch_expired', 'expired'],
    ['JOB_EXPIRED', 'expired'],
    ['cancelled', 'cancelled'],
    ['canceled', 'cancelled'],
    ['batch_cancelled', 'cancelled'],
  ])('was not run in time, or was cancelled: %s', (code, reason) => {
    const outcome = { kind: 'retry', reason };
    expect(read({ error: { message: 'Not run', code } })).toMatchObject({ id: 'r-1', outcome });
  });

  it('is about a key that has expired, not about the batch', () => {
    const error = { message: 'The API key has expired', code: 'invalid_api_key' };
    expect(read({ error })).toMatchObject({ outcome: { answer: { status: 401 } } });
  });
});

it('believes the status of a response before any words', () => {
  const body = { error: { message: 'timeout' } };
  const row = read({ response: { status_code: 400, body }, error: { code: 'timeout' } });
  expect(row).toMatchObject({ outcome: { kind: 'answer', answer: { status: 400 } } });
});

it('keeps the bytes of an answer', () => {
  const body = '{"id":"a","big":12345678901234567890,"one":1.0,"tiny":1e-7,"text":"\\u00e4 ä"}';
  const line = `{"custom_id":"r-1","response":{"status_code":200,"body":${body}}}`;
  const row = readTogetherLine(line, 'x-request-id', judgeOpenAI);
  expect(row).toMatchObject({ outcome: { answer: { status: 200, body } } });
});
