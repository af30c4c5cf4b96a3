import { describe, expect, it } from 'vitest';
import type { Row } from '../batcher.ts';
import { type BatcherSubject, openBench } from '../conformance/subject.test-helper.ts';
import { DoublewordBatcher } from './doubleword-batcher.ts';
import { judgeDoubleword } from './doubleword-judge.ts';
import { readDoublewordLine } from './doubleword-results.ts';

const subject: BatcherSubject = {
  batcher: new DoublewordBatcher(),
  path: '/chat/completions',
  body: (content) => ({ model: 'qwen-test', messages: [{ role: 'user', content }] }),
  requests: { create: '/v1/batches', results: /\/content$/ },
};

function failed(message: string): Row {
  const error = { code: null, message };
  const line = { id: 'batch_req_1', custom_id: 'r-1', response: null, error };
  return readDoublewordLine(JSON.stringify(line), 'x-request-id', judgeDoubleword);
}

const reason = (type: string, details?: object) => JSON.stringify({ type, details });

describe('a failed line', () => {
  it.each([
    [400, reason('NonRetriableHttpStatus', { status: 400, body: '{"error":{"message":"no"}}' })],
    [400, 'Request failed with HTTP status 400'],
    [422, 'upstream answered with status: 422 (scrubbed)'],
    [400, reason('RequestBuilderError', { error: 'bad header' })],
  ])('is the answer %i where it says so: %s', (status, message) => {
    const row = failed(message);
    expect(row).toMatchObject({ id: 'r-1', outcome: { kind: 'answer', answer: { status } } });
    const body = 'outcome' in row && row.outcome.kind === 'answer' ? row.outcome.answer.body : '';
    expect(JSON.parse(body)).toMatchObject({ error: { message: expect.stringMatching(/\w/) } });
  });

  it.each([
    ['422', 'It cannot be processed.', 422],
    ['upstream_error', 'upstream answered with status: 404', 404],
  ])('is an answer too where it has a code, %s', (code, message, status) => {
    const line = JSON.stringify({ custom_id: 'r-1', response: null, error: { code, message } });
    expect(readDoublewordLine(line, 'x-request-id', judgeDoubleword)).toMatchObject({
      id: 'r-1',
      outcome: { kind: 'answer', answer: { status } },
    });
  });

  it('keeps the error body of the model as it is', () => {
    const body = '{"error": {"message":"no","n":1.0}}';
    const row = failed(reason('NonRetriableHttpStatus', { status: 404, body }));
    expect(row).toMatchObject({ outcome: { answer: { body } } });
  });

  it.each([
    ['rate-limit', reason('RetriableHttpStatus', { status: 429, body: 'slow down' })],
    ['server', reason('RetriableHttpStatus', { status: 503, body: '' })],
    ['server', reason('NetworkError', { error: 'connection reset' })],
    ['server', reason('TaskTerminated')],
    ['server', 'Unknown error'],
  ])('is worth another attempt (%s): %s', (why, message) => {
    expect(failed(message)).toMatchObject({ outcome: { kind: 'retry', reason: why } });
  });
});

describe('the reply to an upload', () => {
  const judged = (status: number, message: string) =>
    judgeDoubleword({ status, headers: {}, body: '', message });

  it('names the line at fault', () => {
    const message = 'Invalid JSON on line 3: expected value at line 1 column 5';
    expect(judged(400, message)).toEqual({ meaning: 'refused', next: 'isolate', lines: [3] });
    expect(judged(400, 'expected value at line 1 column 5').next).toBe('fail');
    expect(judged(500, 'Error on line 3').unclear).toBe(true);
  });

  it('tells a model that is not accessible from a wrong key', () => {
    expect(judged(403, "Model 'x' is not accessible").meaning).toBe('refused');
    expect(judged(403, 'Forbidden').meaning).toBe('denied');
  });
});

describe('result files', () => {
  it('are read on from a cursor while the batch runs, and from the start at its end', async () => {
    const { batcher, wire, simulator, send, ended } = await openBench(subject);
    simulator.faults.nextBatch({ stuckIn: 'in_progress' });
    const { plan, handle, remote } = await send(['one', 'two']);
    await expect.poll(() => simulator.meter.total).toBe(2);
    const polled = [{ id: remote.id, count: plan.count, handle }];
    const rows: Row[] = [];
    const read = async (cursor?: string) => {
      rows.length = 0;
      for await (const seen of batcher.poll(wire, polled)) {
        expect(seen).toMatchObject({ readable: true });
        for await (const group of batcher.results(wire, seen, cursor)) rows.push(...group);
      }
      return rows.filter((row) => 'id' in row).length;
    };
    expect(await read()).toBe(2);
    expect(rows).toContainEqual({ cursor: '2' });
    expect(await read('1')).toBe(1);
    expect(await read('2')).toBe(0);
    await batcher.cancel(wire, remote);
    await ended(remote, plan, handle);
    expect(await read('2')).toBe(2);
  });

  it('that end before they should are told as such', async () => {
    const { strike, send, ended, rows } = await openBench(subject);
    const { plan, handle, remote } = await send(['one', 'two']);
    const last = await ended(remote, plan, handle);
    const line = '{"id":"x","custom_id":"y","response":{"status_code":200,"body":{"a":1}}}\n';
    const headers = { 'x-last-line': '2', 'x-incomplete': 'false' };
    strike('results', { kind: 'status', status: 200, body: line, headers });
    expect(await rows(last)).toContainEqual({ unreadable: 'unended' });
  });

  it('that have no line, and say so, are not suspicious', async () => {
    const { send, ended, rows } = await openBench(subject);
    const { plan, handle, remote } = await send(['[[status 400]]']);
    const last = await ended(remote, plan, handle);
    expect(last).toMatchObject({ raw: 'failed', sources: { output: expect.any(String) } });
    expect(last.failure).toBeUndefined();
    expect(await rows(last)).toMatchObject([{ outcome: { answer: { status: 400 } } }]);
  });
});
