import { describe, expect, it } from 'vitest';
import { readResultPage } from './xai-results.ts';

function only(row: object, cancelledBecause?: string) {
  const body = JSON.stringify({ results: [row], pagination_token: null });
  return readResultPage(body, cancelledBecause).rows[0];
}

const row = (result: unknown, more = {}) => ({
  batch_request_id: 'r-1',
  batch_result: result,
  ...more,
});

describe('a page of results', () => {
  it('hands on each completion byte for byte', () => {
    const completion =
      '{ "choices": [], "n": 12345678901234567890, "1": 1.0,\n "text": "a \\"]}[{\\" b" }';
    const body = `{"results":[{"batch_request_id":"a","batch_result":{"response":{"chat_get_completion":${completion}},"error":{"code":0,"message":""}}},
      {"batch_result":null}, {"batch_request_id":"b","batch_result":{"error":"no"}}],"pagination_token":"next"}`;
    const page = readResultPage(body);
    expect(page.next).toBe('next');
    expect(page.rows).toMatchObject([
      { id: 'a', outcome: { kind: 'answer', answer: { status: 200, body: completion } } },
      { broken: '{"batch_result":null}' },
      { id: 'b' },
    ]);
  });

  it.each(['<html>', '{}', 'null', '{"results":{}}'])('is not %s', (body) => {
    expect(readResultPage(body)).toMatchObject({ rows: [], isGarbled: true });
  });
});

describe('a row that failed', () => {
  it.each([
    [3, 400, 'INVALID_ARGUMENT'],
    ['5', 404, 'NOT_FOUND'],
    [7, 403, 'PERMISSION_DENIED'],
    [16, 401, 'UNAUTHENTICATED'],
  ])('with the gRPC status %s is an error %i', (code, status, name) => {
    const read = only(row({ error: { code, message: 'No.' } }, { error_message: 'No.' }));
    expect(read).toMatchObject({ id: 'r-1', outcome: { kind: 'answer', answer: { status } } });
    const body = JSON.stringify({ code: name, error: 'No.' });
    expect(read).toMatchObject({ outcome: { answer: { body } } });
  });

  it.each([
    [8, 'rate-limit', 429],
    [13, 'server', 500],
    [14, 'server', 503],
    [4, 'server', 504],
    [99, 'server', 500],
  ])('with the gRPC status %i is tried again', (code, reason, status) => {
    const read = only(row({ error: { code, message: 'Busy.' } }));
    expect(read).toMatchObject({ outcome: { kind: 'retry', reason, last: { status } } });
  });

  it.each([
    ['max_tokens must be positive but max_tokens = -5', 400],
    ['Failed to download the provided image', 400],
    ['The model does not exist', 404],
  ])('with the bare text "%s" has a status by its words', (error, status) => {
    const answer = { status, body: JSON.stringify({ error }) };
    expect(only(row({ error }))).toMatchObject({ outcome: { kind: 'answer', answer } });
  });

  it('with a bare text that says nothing is taken for a fault of the service', () => {
    const outcome = { kind: 'retry', reason: 'server', last: { status: 500 } };
    expect(only(row({ error: 'Something happened' }))).toMatchObject({ outcome });
  });

  it('is found inside of a success, by its code word', () => {
    const hidden = { error: 'Model overloaded.', code: 'overloaded' };
    expect(only(row({ response: { chat_get_completion: hidden } }))).toMatchObject({
      outcome: { kind: 'retry', reason: 'server', last: { status: 503 } },
    });
    const refused = { error: 'Bad image.', code: 'Client specified an invalid argument' };
    expect(only(row({ response: { chat_get_completion: refused } }))).toMatchObject({
      outcome: { kind: 'answer', answer: { status: 400, body: JSON.stringify(refused) } },
    });
  });

  it.each([{ code: 1, message: 'Cancelled.' }, 'Batch cancelled'])(
    'because it was cancelled (%j) says so',
    (error) => {
      const outcome = { kind: 'retry', reason: 'cancelled' };
      expect(only(row({ error }))).toMatchObject({ outcome });
    },
  );

  it('because xAI has cancelled the batch gets the message of the batch', () => {
    const body = JSON.stringify({ code: 'batch_cancelled', error: 'Abuse.' });
    expect(only(row({ error: 'Batch cancelled' }), 'Abuse.')).toMatchObject({
      outcome: { kind: 'answer', answer: { status: 400, body } },
    });
  });
});
