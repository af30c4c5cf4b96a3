import { describe, expect, it } from 'vitest';
import { UnknownOutcomeError } from '../../base/errors.ts';
import { readPage, toRemote } from './google-operation.ts';

const wire = { redact: (text: string) => text.replaceAll('secret-key', '[redacted]') };
const output = { responsesFile: 'files/batch-1' };

function remote(metadata: object, more: object = {}) {
  return toRemote({ name: 'batches/b-1', metadata, ...more }, wire);
}

describe('the state of an operation', () => {
  it.each([
    ['UNSPECIFIED', 'queued'],
    ['PENDING', 'queued'],
    ['QUEUED', 'queued'],
    ['RUNNING', 'running'],
    ['PONDERING', 'running'],
    ['CANCELLING', 'cancelling'],
    ['SUCCEEDED', 'ended'],
    ['PARTIALLY_SUCCEEDED', 'ended'],
    ['FAILED', 'ended'],
    ['CANCELLED', 'ended'],
    ['EXPIRED', 'ended'],
  ])('%s means %s, with either prefix', (word, state) => {
    for (const prefix of ['BATCH_STATE_', 'JOB_STATE_']) {
      const raw = `${prefix}${word}`;
      expect(remote({ state: raw })).toMatchObject({ id: 'b-1', raw, state });
    }
  });

  it('is that of the operation where it says nothing of its own', () => {
    expect(remote({}, { done: true, response: output })).toMatchObject({
      state: 'ended',
      sources: { file: 'files/batch-1' },
    });
    expect(remote({}, { done: true, error: { code: 3, message: 'no' } })).toMatchObject({
      state: 'ended',
      failure: { message: 'no' },
    });
    expect(remote({})).toMatchObject({ state: 'running', raw: 'unknown' });
  });

  it('is still to be awaited where it succeeded without an output', () => {
    for (const state of ['BATCH_STATE_SUCCEEDED', 'JOB_STATE_PARTIALLY_SUCCEEDED']) {
      expect(remote({ state })).toMatchObject({ incomplete: true, readable: false });
      expect(remote({ state, output })).toMatchObject({ readable: true });
      expect(remote({ state, output }).incomplete).toBeUndefined();
    }
  });

  it('has nothing to read before its end, whatever it shows', () => {
    expect(remote({ state: 'BATCH_STATE_RUNNING', output })).toMatchObject({
      readable: false,
      sources: {},
    });
  });

  it.each(['cancelled', 'expired'])('%s has lost its answers, unless it shows some', (word) => {
    const state = `BATCH_STATE_${word.toUpperCase()}`;
    const error = { code: 1, message: 'cancelled' };
    const lost = remote({ state }, { done: true, error });
    expect(lost).toMatchObject({ state: 'ended', unfinished: word, readable: false });
    expect(lost.failure).toBeUndefined();
    expect(lost.incomplete).toBeUndefined();
    expect(remote({ state, output })).toMatchObject({ unfinished: word, readable: true });
  });
});

describe('the counts of an operation', () => {
  it('are texts, and zeros are left out', () => {
    const batchStats = { requestCount: '12', successfulRequestCount: '7' };
    expect(remote({ batchStats }).counts).toEqual({ total: 12, completed: 7, failed: 0 });
    expect(remote({ batchStats: { requestCount: 3 } }).counts?.total).toBe(3);
  });

  it('are unknown where it says none', () => {
    expect(remote({}).counts).toBeUndefined();
    expect(remote({ batchStats: null }).counts).toBeUndefined();
  });
});

describe('the output of an operation', () => {
  const inlined = { inlinedResponses: [] };
  it.each([
    ['response', {}, { response: output }, { file: 'files/batch-1' }],
    ['metadata.output', { output }, {}, { file: 'files/batch-1' }],
    ['inline', {}, { response: { inlinedResponses: inlined } }, { inline: 'true' }],
    [
      'inline embeddings',
      { output: { inlinedEmbedContentResponses: inlined } },
      {},
      { inline: 'true' },
    ],
    ['neither', { output: {} }, { response: { '@type': 'x' } }, {}],
  ])('is found: %s', (_where, metadata, more, sources) => {
    const state = 'BATCH_STATE_SUCCEEDED';
    expect(remote({ state, ...metadata }, more).sources).toEqual(sources);
  });
});

describe('a batch that failed', () => {
  const state = 'BATCH_STATE_FAILED';

  it('tells its callers why, in the shape of an answer', () => {
    const error = { code: 9, message: 'The secret-key file is gone.' };
    const { failure } = remote({ state }, { done: true, error });
    expect(failure).toMatchObject({ meaning: 'refused', next: 'fail', answer: { status: 400 } });
    expect(JSON.parse(failure?.answer?.body ?? '')).toEqual({
      error: { code: 400, message: 'The [redacted] file is gone.', status: 'FAILED_PRECONDITION' },
    });
  });

  it('for want of quota waits for room', () => {
    const { failure } = remote({ state }, { error: { code: 8, message: 'quota' } });
    expect(failure).toMatchObject({ meaning: 'full', next: 'later' });
  });

  it('without a reason is a failure all the same', () => {
    expect(remote({ state }).failure).toMatchObject({ next: 'fail', answer: { status: 500 } });
  });
});

describe('a page of operations', () => {
  it('has ids, and the token of the next page', () => {
    const operations = [{ name: 'batches/a' }, { name: 'batches/b' }];
    const { batches, next } = readPage({ operations, nextPageToken: 't' });
    expect(batches).toMatchObject([{ id: 'a' }, { id: 'b' }]);
    expect(next).toBe('t');
  });

  it('is empty as {}, and goes on where it has a token', () => {
    expect(readPage({})).toEqual({ batches: [], next: undefined });
    expect(readPage({ nextPageToken: 't' })).toEqual({ batches: [], next: 't' });
  });

  it.each([
    [null],
    ['text'],
    [[]],
    [{ error: { message: 'no' } }],
    [{ operations: {} }],
    [{ operations: [{}] }],
    [{ operations: null }],
  ])('is not %j', (body) => {
    expect(() => readPage(body)).toThrow(UnknownOutcomeError);
  });
});
