import { describe, expect, it } from 'vitest';
import { labelName, labelOf } from './vertex-labels.ts';
import { readRow } from './vertex-rows.ts';

const id = `${'A'.repeat(43)}-3`;
const label = labelOf(id);
const request = { contents: [{ parts: [{ text: 'a' }] }] };
const labelled = { ...request, labels: { [labelName]: label, team: 'x' } };
const response = { candidates: [{ index: 0 }] };
const read = (row: object) => readRow(JSON.stringify(row));

describe('a row of Gemini', () => {
  it('is known by its key, and by its label', () => {
    expect(read({ key: id, request, response })).toMatchObject({ id });
    expect(read({ request: labelled, response })).toMatchObject({ id });
    expect(read({ key: id, request: labelled, response })).toMatchObject({ id });
  });

  it('whose key and label disagree is broken', () => {
    expect(read({ key: `${'B'.repeat(43)}-3`, request: labelled, response })).toHaveProperty(
      'broken',
    );
  });

  it('without an id is told apart by its request only', () => {
    const first = read({ request, response });
    const same = read({ request: { labels: { [labelName]: 'x' }, ...request }, response });
    const other = read({ request: { ...request, labels: { team: 'x' } }, response });
    expect(first).toEqual(same);
    expect(first).not.toEqual(other);
    expect(read({ response })).toHaveProperty('broken');
    expect(readRow('{"requ')).toHaveProperty('broken');
  });

  it('keeps the bytes of its answer', () => {
    const answer = '{"n":1.0,"big":12345678901234567890,"a":[1e-7]}';
    const row = readRow(`{"status":"","request":{},"response":${answer},"key":"${id}"}`);
    expect(row).toMatchObject({ outcome: { answer: { status: 200, body: answer } } });
  });
});

const invalid = { code: 400, message: 'No contents.', status: 'INVALID_ARGUMENT' };

describe('a status', () => {
  it.each([
    [`Bad Request: ${JSON.stringify({ error: invalid })}`, 400, 'No contents.'],
    ['Bad Request: nothing more', 400, 'nothing more'],
    ['Something new', 500, 'Something new'],
    ['Too Many Requests', 429, 'Too Many'],
    ['Error: {"error":{"code":8,"message":"Full."}}', 429, 'Full.'],
    ['Unprocessable Entity: {"error":{"message":"No."}}', 422, 'No.'],
  ])('%s is an error with %i', (status, code, message) => {
    const row = read({ key: id, status, request, response: {} });
    const { outcome } = row as Extract<typeof row, { id: string }>;
    const answer = outcome.kind === 'answer' ? outcome.answer : outcome.last;
    expect(answer.status).toBe(code);
    expect(JSON.parse(answer.body).error).toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  it.each([null, {}, '', undefined])(
    'that is empty, with the answer %j, is no answer',
    (answer) => {
      const row = read({ key: id, status: '', request, response: answer });
      expect(row).toMatchObject({ outcome: { kind: 'retry', reason: 'never-ran' } });
    },
  );

  it('of an answer does not matter', () => {
    const row = read({ key: id, status: 'OK', request, response });
    expect(row).toMatchObject({ outcome: { kind: 'answer', answer: { status: 200 } } });
  });
});

describe('a row of Claude', () => {
  const asked = { anthropic_version: 'vertex-2023-10-16', messages: [] };

  it('may hold its message as text', () => {
    const message = '{"type":"message","usage":{"input_tokens":1}}';
    const row = read({ custom_id: id, status: '', request: asked, response: message });
    expect(row).toMatchObject({ id, outcome: { answer: { status: 200, body: message } } });
  });

  it.each([
    ['Bad Request: {"error":{"code":400,"message":"No."}}', 400, 'invalid_request_error'],
    [
      'Error: {"type":"error","error":{"type":"overloaded_error","message":"No."}}',
      529,
      'overloaded_error',
    ],
    [
      'Not Found: {"type":"error","error":{"type":"not_found_error","message":"No."}}',
      404,
      'not_found_error',
    ],
    ['Teapot', 500, 'api_error'],
  ])('with the status %s fails as Claude fails', (status, code, type) => {
    const row = read({ custom_id: id, status, request: asked, response: null });
    const { outcome } = row as Extract<typeof row, { id: string }>;
    const answer = outcome.kind === 'answer' ? outcome.answer : outcome.last;
    expect(answer.status).toBe(code);
    expect(JSON.parse(answer.body)).toMatchObject({ type: 'error', error: { type } });
  });
});
