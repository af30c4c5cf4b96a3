import { describe, expect, it } from 'vitest';
import { inlineRows, readResultLine } from './google-results.ts';

const exact = '{"candidates":[{"seed":12345678901234567890,"a":1.0}]}';

describe('a line', () => {
  it.each([
    ['compact', `{"key":"k","response":${exact}}`],
    ['spaced', `{ "key" : "k", "response" : ${exact} }`],
    ['in another order', `{"response":${exact},"key":"k"}`],
    ['with more', `{"key":"k","response":${exact},"status":{}}`],
    ['of an operation', `{"metadata":{"key":"k"},"response":${exact}}`],
    ['whose key is escaped', `{"key":"\\u006b","response":${exact}}`],
  ])('that is %s holds its answer byte for byte', (_what, line) => {
    expect(readResultLine(line)).toMatchObject({
      id: 'k',
      outcome: { kind: 'answer', answer: { status: 200, body: exact } },
    });
  });

  it.each([
    ['nothing', '{"key":"k"}'],
    ['an empty response', '{"key":"k","response":{}}'],
    ['null', '{"key":"k","response":null,"error":null}'],
  ])('with %s never ran', (_what, line) => {
    expect(readResultLine(line)).toMatchObject({
      id: 'k',
      outcome: { kind: 'retry', reason: 'never-ran', last: { status: 500 } },
    });
  });

  it.each(['{"key":', '[]', '7', '{"response":{"a":1}}', '{"key":7,"response":{"a":1}}'])(
    '%s is broken',
    (line) => {
      expect(readResultLine(line)).toEqual({ broken: line });
    },
  );

  it('about a prompt that was blocked is an answer', () => {
    const line = '{"key":"k","response":{"promptFeedback":{"blockReason":"SAFETY"}}}';
    expect(readResultLine(line)).toMatchObject({ outcome: { answer: { status: 200 } } });
  });
});

describe('the error of a line', () => {
  it.each([
    [1, 499, 'CANCELLED', 'cancelled'],
    [2, 500, 'UNKNOWN', 'server'],
    [3, 400, 'INVALID_ARGUMENT', undefined],
    [4, 504, 'DEADLINE_EXCEEDED', 'expired'],
    [5, 404, 'NOT_FOUND', undefined],
    [6, 409, 'ALREADY_EXISTS', undefined],
    [7, 403, 'PERMISSION_DENIED', undefined],
    [8, 429, 'RESOURCE_EXHAUSTED', 'rate-limit'],
    [9, 400, 'FAILED_PRECONDITION', undefined],
    [10, 409, 'ABORTED', undefined],
    [11, 400, 'OUT_OF_RANGE', undefined],
    [12, 501, 'UNIMPLEMENTED', undefined],
    [13, 500, 'INTERNAL', 'server'],
    [14, 503, 'UNAVAILABLE', 'server'],
    [15, 500, 'DATA_LOSS', 'server'],
    [16, 401, 'UNAUTHENTICATED', undefined],
    [400, 400, 'INVALID_ARGUMENT', undefined],
    [429, 429, 'RESOURCE_EXHAUSTED', 'rate-limit'],
    [422, 422, 'UNKNOWN', undefined],
    [99, 500, 'INTERNAL', 'server'],
    ['13', 500, 'INTERNAL', 'server'],
  ])('with code %s is a %i', (code, status, name, reason) => {
    const details = [{ '@type': 'x', reason: 'y' }];
    const row = readResultLine(
      JSON.stringify({ key: 'k', error: { code, message: 'so', details } }),
    );
    if (!('id' in row)) throw new Error('The line was not understood');
    const { outcome } = row;
    expect(outcome.kind === 'retry' ? outcome.reason : undefined).toBe(reason);
    const answer = outcome.kind === 'retry' ? outcome.last : outcome.answer;
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(JSON.parse(answer.body)).toEqual({
      error: { code: status, message: 'so', status: name, details },
    });
  });
});

describe('the answers in an operation', () => {
  const item = `{"metadata":{"key":"k"},"response":${exact}}`;
  const list = (items: string) => `{"inlinedResponses":{"inlinedResponses":[${items}]}}`;

  it.each([
    ['response', `{"name":"batches/b","response":${list(`${item} , ${item}`)}}`],
    ['metadata.output', `{"metadata":{"output":${list(`${item},${item}`)}},"done":true}`],
    [
      'embeddings',
      `{"response":{"inlinedEmbedContentResponses":{"inlinedResponses":[${item},${item}]}}}`,
    ],
  ])('are read where they are: %s', (_where, operation) => {
    const body = { answer: { body: exact } };
    expect(inlineRows(operation)).toMatchObject([
      { id: 'k', outcome: body },
      { id: 'k', outcome: body },
    ]);
  });

  it('that hold a strange one hide no other', () => {
    const operation = `{"response":${list(`{},${item},"text"`)}}`;
    expect(inlineRows(operation)).toMatchObject([
      { broken: '{}' },
      { id: 'k' },
      { broken: '"text"' },
    ]);
  });

  it.each([
    ['', 'empty'],
    ['<html>', 'garbled'],
    ['null', 'garbled'],
    ['[]', 'garbled'],
    ['{"response":null,"metadata":7}', 'garbled'],
    [`{"response":${list('')}}`, 'garbled'],
  ])('of %j cannot be read', (operation, unreadable) => {
    expect(inlineRows(operation)).toEqual([{ unreadable }]);
  });
});
