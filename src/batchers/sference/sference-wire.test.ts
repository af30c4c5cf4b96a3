import { describe, expect, it } from 'vitest';
import { readResultLine, toRemote, withSdkError } from './sference-wire.ts';

describe('a batch of sference', () => {
  it.each([
    ['pending', 'queued', false],
    ['running', 'running', false],
    ['pondering', 'running', false],
    ['completed', 'ended', true],
    ['FAILED', 'ended', true],
    ['cancelled', 'ended', true],
  ])('that is %s is %s', (status, state, readable) => {
    const remote = toRemote({ id: 'b', status });
    expect(remote).toMatchObject({ id: 'b', state, readable, raw: status });
    expect(remote.unfinished).toBe(status === 'cancelled' ? 'cancelled' : undefined);
  });
});

function read(row: object) {
  return readResultLine(JSON.stringify({ custom_id: 'r-1', result_json: null, ...row }));
}

describe('a row of sference', () => {
  it('hands on its completion byte for byte', () => {
    const completion = '{ "n": 12345678901234567890, "2": 1.0, "1": "}" }';
    const line = `{"custom_id":"r-1","status":"completed","result_json":${completion},"error_json":null}`;
    expect(readResultLine(line)).toMatchObject({
      id: 'r-1',
      outcome: { kind: 'answer', answer: { status: 200, body: completion } },
    });
  });

  it.each([
    [{ detail: 'body.messages must be a non-empty list' }, 400],
    [{ detail: 'Model org/x not found' }, 404],
    [{ detail: 'Nothing that anybody knows', status_code: 422 }, 422],
  ])('that failed with %j has a status by number or by words', (error, status) => {
    const row = read({ status: 'failed', error_json: error });
    expect(row).toMatchObject({ outcome: { kind: 'answer', answer: { status } } });
    const body = 'outcome' in row && row.outcome.kind === 'answer' ? row.outcome.answer.body : '';
    expect(JSON.parse(body)).toMatchObject({
      status_code: status,
      detail: error.detail,
      error: { message: error.detail },
    });
  });

  it.each([{ detail: 'The worker went away' }, null, {}])(
    'that failed with %j is tried again',
    (error) => {
      const outcome = { kind: 'retry', reason: 'server', last: { status: 500 } };
      expect(read({ status: 'failed', error_json: error })).toMatchObject({ outcome });
    },
  );

  it.each([
    ['cancelled', 'cancelled'],
    ['pending', 'never-ran'],
    ['completed', 'never-ran'],
  ])('that is %s without a result did not run', (status, reason) => {
    expect(read({ status, error_json: null })).toMatchObject({
      outcome: { kind: 'retry', reason },
    });
  });
});

it("a refusal gets the member that OpenAI's SDK shows, and keeps its own", () => {
  const body = JSON.stringify({ status_code: 400, detail: 'no', extra: null });
  const answer = { status: 400, headers: {}, body };
  const failure = { code: 'http_400', message: 'no', meaning: 'refused', next: 'isolate' } as const;
  const told = withSdkError({ ...failure, answer, bad: [{ line: 1, answer }] });
  for (const one of [told.answer, told.bad?.[0]?.answer]) {
    expect(JSON.parse(one?.body ?? '')).toMatchObject({
      status_code: 400,
      detail: 'no',
      error: { message: 'no' },
    });
  }
});
