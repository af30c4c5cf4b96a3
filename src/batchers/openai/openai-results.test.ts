import { describe, expect, it } from 'vitest';
import fc from '../../../test/support/fast-check.ts';
import type { Outcome } from '../batcher.ts';
import { readResultLine } from './openai-results.ts';

function read(line: string) {
  return readResultLine(line, 'x-request-id');
}

function outcomeOf(line: string): Outcome {
  const row = read(line);
  if (!('outcome' in row)) throw new Error(`no outcome: ${JSON.stringify(row)}`);
  return row.outcome;
}

function answerOf(line: string) {
  const outcome = outcomeOf(line);
  if (outcome.kind !== 'answer') throw new Error(`no answer: ${JSON.stringify(outcome)}`);
  return outcome.answer;
}

function lineOf(status: number, body: unknown, error: unknown = null): string {
  const response = { status_code: status, request_id: 'req_1', body };
  return JSON.stringify({ id: 'batch_req_1', custom_id: 'r-1', response, error });
}

/** Mostly nothing, so that the compact lines of the real service come up, too. */
const space = fc.oneof(
  { weight: 20, arbitrary: fc.constant('') },
  fc.constantFrom(' ', '\t', '  '),
);

/** An object as text in a writer's own style: members in this order, blanks anywhere. */
function written(members: readonly (readonly [string, fc.Arbitrary<string>])[]) {
  return fc
    .tuple(...members.map(([, value]) => fc.tuple(space, space, space, value, space)))
    .map((parts) => {
      const texts = parts.map(([before, beforeColon, afterColon, value, after], index) => {
        return `${before}"${members[index]?.[0]}"${beforeColon}:${afterColon}${value}${after}`;
      });
      return `{${texts.join(',')}}`;
    });
}

describe('an answered line', () => {
  it('becomes the answer with the status, the request id and the bytes of the body', () => {
    const body = '{"id":"chatcmpl-1","n":12345678901234567890,"10":1,"2":1,"t":"\u00fc\u2028"}';
    const line = `{"id":"b","custom_id":"r-1","response":{"status_code":200,"request_id":"req_1","body":${body}},"error":null}`;
    expect(read(line)).toEqual({
      id: 'r-1',
      outcome: {
        kind: 'answer',
        answer: {
          status: 200,
          headers: { 'content-type': 'application/json', 'x-request-id': 'req_1' },
          body,
          json: JSON.parse(body),
        },
      },
    });
  });

  it('is read in the style of json.dumps', () => {
    const line =
      '{"id": "b", "custom_id": "r-1", "response": {"status_code": 200, "request_id": "req_1", ' +
      '"body": {"text": "caf\\u00e9", "n": 1.0}}, "error": null}';
    expect(answerOf(line).body).toBe('{"text": "caf\\u00e9", "n": 1.0}');
  });

  it('is read with its status as a string', () => {
    const body = '{"a":1}';
    for (const [written, status] of [
      ['"200"', 200],
      ['"404"', 404],
    ] as const) {
      const response = `{"status_code":${written},"request_id":"req_1","body":${body}}`;
      const line = `{"id":"b","custom_id":"r-1","response":${response},"error":null}`;
      expect(answerOf(line)).toMatchObject({ status, body });
    }
  });

  it('is read without a request id, and with an empty one', () => {
    for (const id of ['', '"request_id":"",', '"request_id":null,']) {
      const response = `{"status_code":200,${id}"body":{"a":1}}`;
      const line = `{"id":"b","custom_id":"r-1","response":${response},"error":null}`;
      expect(answerOf(line).headers).toEqual({ 'content-type': 'application/json' });
    }
  });

  it.each([
    ['after the body', '{"status_code":200,"body":{"a":1},"extra":{"body":{"b":2}}}'],
    ['after the body, ending alike', '{"status_code":200,"body":{"a":1},"headers":{"x":{}}}'],
    [
      'before the body',
      '{"status_code":200,"request_id":"r","headers":{"body":"x"},"body":{"a":1}}',
    ],
  ])('is read with more keys %s', (_where, response) => {
    const line = `{"id":"b","custom_id":"r-1","response":${response},"error":null}`;
    expect(answerOf(line).body).toBe('{"a":1}');
  });

  it('is read with more keys around the response', () => {
    const response = '"response":{"status_code":200,"body":{"a":1}},"error":null';
    for (const line of [
      `{"custom_id":"r-1",${response},"usage":{"body":{}}}`,
      `{"custom_id":"r-1","body":{"z":1},${response}}`,
      `{"custom_id":"r-1","request":{"body":{"z":1}},${response}}`,
    ]) {
      expect(answerOf(line).body).toBe('{"a":1}');
    }
  });

  it('keeps the body of any text in any style of writing', () => {
    const body = fc.jsonValue().map((value) => JSON.stringify({ value }));
    const extra = fc.constantFrom('{"body":{}}', '"\\"body\\":"', '[]');
    const line = body.chain((text) => {
      const response = fc
        .shuffledSubarray(['status_code', 'body', 'extra'] as const, { minLength: 3 })
        .chain((order) => {
          const values = { status_code: fc.constant('200'), body: fc.constant(text), extra };
          return written(order.map((name) => [name, values[name]]));
        });
      return fc
        .shuffledSubarray(['custom_id', 'response', 'error', 'extra'] as const, { minLength: 3 })
        .filter((order) => order.includes('custom_id') && order.includes('response'))
        .chain((order) => {
          const custom_id = fc.constant('"r-1"');
          const values = { custom_id, response, error: fc.constant('null'), extra };
          return written(order.map((name) => [name, values[name]]));
        })
        .map((outer) => ({ text, outer }));
    });
    fc.assert(
      fc.property(line, ({ text, outer }) => {
        const answer = answerOf(outer);
        expect(answer.body.trim()).toBe(text);
        expect(answer.json).toEqual(JSON.parse(text));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('a refused line', () => {
  const body = { error: { message: 'no', type: 'invalid_request_error', param: null, code: null } };

  it.each([400, 401, 403, 404, 409, 413, 422])('keeps the status %i as the answer', (status) => {
    expect(answerOf(lineOf(status, body))).toMatchObject({ status, body: JSON.stringify(body) });
  });

  it.each([
    [429, 'rate-limit'],
    [408, 'server'],
    [500, 'server'],
    [503, 'server'],
    [529, 'server'],
  ])('is worth a retry at status %i', (status, reason) => {
    expect(outcomeOf(lineOf(status, body))).toMatchObject({
      kind: 'retry',
      reason,
      last: { status, body: JSON.stringify(body) },
    });
  });

  it('is judged by its status before its error', () => {
    const error = { code: 'batch_expired', message: 'late' };
    expect(answerOf(lineOf(400, body, error)).status).toBe(400);
  });

  it('keeps its status although it has no body', () => {
    expect(answerOf(lineOf(404, {})).status).toBe(404);
  });
});

describe('a line that never ran', () => {
  it.each([
    ['batch_expired', 'expired'],
    ['batch_cancelled', 'cancelled'],
    ['batch_canceled', 'cancelled'],
    ['expired', 'expired'],
    ['mock_failure', 'never-ran'],
  ])('with the error %s is a retry', (code, reason) => {
    const line = JSON.stringify({
      id: 'b',
      custom_id: 'r-1',
      response: null,
      error: { code, message: 'told why' },
    });
    const outcome = outcomeOf(line);
    expect(outcome).toMatchObject({ kind: 'retry', reason, last: { status: 502 } });
    if (outcome.kind !== 'retry') return;
    expect(JSON.parse(outcome.last.body)).toMatchObject({ error: { code, message: 'told why' } });
  });

  it.each([
    ['status 0 and an empty body', lineOf(0, {})],
    ['status 0 and a body', lineOf(0, { a: 1 })],
    ['an empty 200', lineOf(200, {})],
    ['a 200 with null', lineOf(200, null)],
    ['a 200 with an empty text', lineOf(200, '')],
    ['no status', '{"custom_id":"r-1","response":{"body":{"a":1}},"error":null}'],
    ['neither response nor error', '{"custom_id":"r-1"}'],
    ['both null', '{"custom_id":"r-1","response":null,"error":null}'],
  ])('is recognised by %s', (_what, line) => {
    expect(outcomeOf(line)).toMatchObject({ kind: 'retry', reason: 'never-ran' });
  });

  it.each([100, 199, 200.5, 600, 999, 1_000, -200])(
    'is recognised by status %d, which no response can have',
    (status) => {
      const outcome = outcomeOf(lineOf(status, { a: 1 }));
      expect(outcome).toMatchObject({ kind: 'retry', reason: 'never-ran' });
    },
  );
});

describe('a broken line', () => {
  it.each([
    ['cut off', '{"id":"b","custom_id":"r-1","response":{"status_code":200'],
    ['no JSON', '<html>'],
    ['empty', ''],
    ['no object', '[1]'],
    ['null', 'null'],
    ['without an id', '{"response":{"status_code":200,"body":{"a":1}},"error":null}'],
    ['with an empty id', '{"custom_id":"","response":null,"error":null}'],
    ['with a number for an id', '{"custom_id":7,"response":null,"error":null}'],
  ])('that is %s is told apart', (_what, line) => {
    expect(read(line)).toEqual({ broken: line });
  });

  it('is shortened for people', () => {
    expect(read('x'.repeat(5_000))).toEqual({ broken: 'x'.repeat(200) });
  });
});
