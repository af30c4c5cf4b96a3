import { describe, expect, it } from 'vitest';
import fc from '../../../test/support/fast-check.ts';
import { UnknownOutcomeError } from '../../base/errors.ts';
import type { Outcome } from '../batcher.ts';
import { readResultLine, toRemote } from './anthropic-wire.ts';

function outcomeOf(line: string): Outcome {
  const row = readResultLine(line);
  if (!('outcome' in row)) throw new Error(`no outcome: ${JSON.stringify(row)}`);
  return row.outcome;
}

function answerOf(line: string) {
  const outcome = outcomeOf(line);
  if (outcome.kind !== 'answer') throw new Error(`no answer: ${JSON.stringify(outcome)}`);
  return outcome.answer;
}

function lineOf(result: unknown): string {
  return JSON.stringify({ custom_id: 'a', result });
}

describe('a succeeded line', () => {
  it('becomes a 200 with the bytes of the message', () => {
    const message =
      '{"id":"msg_1","n":12345678901234567890,"2":{},"1":{"message":{}},"t":"\u00fc\ud83d\ude00"}';
    const line = `{"custom_id":"a","result":{"type":"succeeded","message":${message}}}`;
    expect(readResultLine(line)).toEqual({
      id: 'a',
      outcome: {
        kind: 'answer',
        answer: {
          status: 200,
          headers: { 'content-type': 'application/json' },
          body: message,
          json: JSON.parse(message),
        },
      },
    });
  });

  it('is read with more keys around the message', () => {
    for (const line of [
      '{"custom_id":"a","result":{"message":{"m":1},"type":"succeeded"}}',
      '{"custom_id":"a","result":{"type":"succeeded","message":{"m":1},"extra":{}}}',
      '{"custom_id":"a","result":{"type":"succeeded","x":{"message":{}},"message":{"m":1}}}',
      '{"message":{"z":1},"custom_id":"a","result":{"type":"succeeded","message":{"m":1}}}',
      '{"custom_id":"a","result":{"type":"succeeded","message":{"m":1}},"extra":{"b":{}}}',
    ]) {
      expect(answerOf(line).body).toBe('{"m":1}');
    }
  });

  it('keeps the message in any style of writing', () => {
    const space = fc.stringMatching(/^[ \t]{0,2}$/);
    const spaces = fc.array(space, { minLength: 12, maxLength: 12 });
    const message = fc.jsonValue().map((value) => JSON.stringify({ value }));
    fc.assert(
      fc.property(spaces, message, (s, text) => {
        const result = `{${s[0]}"type"${s[1]}:${s[2]}"succeeded"${s[3]},${s[4]}"message"${s[5]}:${s[6]}${text}${s[7]}}`;
        const line = `{"custom_id"${s[8]}:"a",${s[9]}"result":${s[10]}${result}${s[11]}}`;
        expect(answerOf(line).body.trim()).toBe(text);
        expect(answerOf(line).json).toEqual(JSON.parse(text));
      }),
    );
  });

  it('without a message never ran', () => {
    for (const message of [undefined, null, 'text']) {
      const line = lineOf({ type: 'succeeded', message });
      expect(outcomeOf(line)).toMatchObject({ kind: 'retry', reason: 'never-ran' });
    }
  });
});

describe('an errored line', () => {
  it.each([
    ['invalid_request_error', 400],
    ['authentication_error', 401],
    ['billing_error', 402],
    ['permission_error', 403],
    ['not_found_error', 404],
    ['conflict_error', 409],
    ['request_too_large', 413],
  ])('of type %s is the answer with status %i', (type, status) => {
    const error = { type: 'error', error: { type, message: 'no' }, request_id: 'req_9' };
    expect(answerOf(lineOf({ type: 'errored', error }))).toMatchObject({
      status,
      headers: { 'content-type': 'application/json', 'request-id': 'req_9' },
      body: JSON.stringify(error),
    });
  });

  it.each([
    ['rate_limit_error', 429, 'rate-limit'],
    ['api_error', 500, 'server'],
    ['timeout_error', 504, 'server'],
    ['overloaded_error', 529, 'server'],
    ['error_of_tomorrow', 500, 'server'],
  ])('of type %s is worth a retry', (type, status, reason) => {
    const error = { type: 'error', error: { type, message: 'no' }, request_id: null };
    expect(outcomeOf(lineOf({ type: 'errored', error }))).toEqual({
      kind: 'retry',
      reason,
      last: {
        status,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(error),
      },
    });
  });

  it('without an error is worth a retry with an error body of the right shape', () => {
    for (const error of [undefined, null, {}, 'text']) {
      const outcome = outcomeOf(lineOf({ type: 'errored', error }));
      expect(outcome).toMatchObject({ kind: 'retry', reason: 'server', last: { status: 500 } });
      if (outcome.kind !== 'retry') return;
      expect(JSON.parse(outcome.last.body)).toMatchObject({ type: 'error', error: {} });
    }
  });
});

describe('a line that did not run', () => {
  it.each([
    ['expired', 'expired', 504],
    ['canceled', 'cancelled', 499],
    ['word_of_tomorrow', 'never-ran', 502],
  ])('of type %s is a retry', (type, reason, status) => {
    const outcome = outcomeOf(lineOf({ type }));
    expect(outcome).toMatchObject({ kind: 'retry', reason, last: { status } });
    if (outcome.kind !== 'retry') return;
    expect(JSON.parse(outcome.last.body)).toMatchObject({ type: 'error', error: {} });
  });

  it('may lack its result', () => {
    for (const line of ['{"custom_id":"a"}', lineOf(null), lineOf({}), lineOf('text')]) {
      expect(outcomeOf(line)).toMatchObject({ kind: 'retry', reason: 'never-ran' });
    }
  });
});

describe('a broken line', () => {
  it.each([
    ['cut off', '{"custom_id":"a","result":{"type":"succ'],
    ['empty', ''],
    ['no object', '7'],
    ['without an id', '{"result":{"type":"expired"}}'],
    ['with an empty id', '{"custom_id":"","result":{"type":"expired"}}'],
  ])('that is %s is told apart', (_what, line) => {
    expect(readResultLine(line)).toEqual({ broken: line });
  });

  it('is shortened for people', () => {
    expect(readResultLine('x'.repeat(5_000))).toEqual({ broken: 'x'.repeat(200) });
  });
});

describe('a batch of Anthropic', () => {
  const counts = { processing: 2, succeeded: 0, errored: 0, canceled: 0, expired: 0 };
  const url = 'https://api.anthropic.com/v1/messages/batches/msgbatch_1/results';

  it.each([
    ['in_progress', 'running'],
    ['canceling', 'cancelling'],
    ['archiving_of_tomorrow', 'running'],
  ])('that is %s is not over', (processing_status, state) => {
    const batch = { id: 'msgbatch_1', processing_status, request_counts: counts };
    expect(toRemote({ ...batch, results_url: null })).toEqual({
      id: 'msgbatch_1',
      state,
      raw: processing_status,
      readable: false,
      sources: {},
      counts: { total: 2, completed: 0, failed: 0 },
    });
  });

  it('that is ended is read at its URL, and its counts add up', () => {
    const request_counts = { processing: 0, succeeded: 3, errored: 1, canceled: 1, expired: 1 };
    const batch = { id: 'msgbatch_1', processing_status: 'ended', request_counts };
    expect(toRemote({ ...batch, results_url: url })).toEqual({
      id: 'msgbatch_1',
      state: 'ended',
      raw: 'ended',
      readable: true,
      sources: { url },
      counts: { total: 6, completed: 3, failed: 3 },
    });
  });

  it('that is ended without a URL cannot be read', () => {
    const remote = toRemote({ id: 'msgbatch_1', processing_status: 'ended', results_url: null });
    expect(remote).toMatchObject({ state: 'ended', readable: false, sources: {} });
  });

  it('that is archived says that its results are lost, and that nothing more is to come', () => {
    const batch = { id: 'msgbatch_1', processing_status: 'ended', results_url: null };
    const remote = toRemote({ ...batch, archived_at: '2026-12-01T00:00:00Z' });
    expect(remote).toMatchObject({ state: 'ended', readable: false });
    expect(remote).not.toHaveProperty('incomplete');
    expect(remote.lost).toContain('archived the results of this batch at 2026-12-01T00:00:00Z');
    expect(toRemote({ ...batch, archived_at: null })).toMatchObject({ incomplete: true });
  });

  it('without counts says nothing of its size', () => {
    for (const request_counts of [null, undefined]) {
      const remote = toRemote({ id: 'msgbatch_1', processing_status: 'ended', request_counts });
      expect(remote).not.toHaveProperty('counts');
    }
  });

  it('without a status is not over', () => {
    expect(toRemote({ id: 'msgbatch_1' })).toMatchObject({ state: 'running', raw: 'unknown' });
  });

  it('without an id may have been made all the same', () => {
    for (const batch of [{}, { id: '' }, { id: 7 }, null, 'text', []]) {
      expect(() => toRemote(batch)).toThrow(UnknownOutcomeError);
    }
  });
});
