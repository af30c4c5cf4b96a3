import { expect, it } from 'vitest';
import { readMistralLine } from './mistral-results.ts';

const head = '"id":"batch-1","custom_id":"a-0"';

it('hands the bytes of an answer on', () => {
  const body = '{"id":"x","n":1.0,"big":12345678901234567890,"s":"\\u00e4"}';
  const line = `{${head},"response":{"status_code":200,"body":${body}},"error":null}`;
  expect(readMistralLine(line)).toMatchObject({
    id: 'a-0',
    outcome: { kind: 'answer', answer: { status: 200, body } },
  });
});

it.each([
  ['a text', '"response":null,"error":"It went wrong."'],
  ['an object', '"response":null,"error":{"message":"It went wrong.","type":"odd"}'],
  ['a detail', '"detail":"It went wrong."'],
  [
    'a detail beside an empty answer',
    '"response":{"status_code":200,"body":{}},"detail":"It went wrong."',
  ],
])('tells the error of a line without a status: %s', (_what, rest) => {
  const row = readMistralLine(`{${head},${rest}}`);
  expect(row).toMatchObject({ id: 'a-0', outcome: { kind: 'retry', reason: 'never-ran' } });
  const { body } = (row as { outcome: { last: { body: string } } }).outcome.last;
  expect(JSON.parse(body)).toMatchObject({ object: 'error', message: 'It went wrong.' });
});

it('takes a list of faults as the refusal that it is online', () => {
  const detail = '[{"type":"missing","loc":["body","messages"],"msg":"Field required"}]';
  const row = readMistralLine(`{${head},"response":null,"detail":${detail}}`);
  const body = `{"detail":${detail}}`;
  expect(row).toMatchObject({ outcome: { kind: 'answer', answer: { status: 422, body } } });
});

it.each([
  [429, 'rate-limit'],
  [500, 'server'],
])('leaves the error of a line with status %s as it is', (status, reason) => {
  const body = '{"object":"error","message":"later"}';
  const line = `{${head},"response":{"status_code":${status},"body":${body}},"error":null}`;
  const outcome = { kind: 'retry', reason, last: { status, body } };
  expect(readMistralLine(line)).toMatchObject({ id: 'a-0', outcome });
});

it.each(['{"custom_', '[]', '{"id":"x"}'])('tells %s as broken', (line) => {
  expect(readMistralLine(line)).toEqual({ broken: line });
});
