import { describe, expect, it } from 'vitest';
import { toTogetherRemote } from './together-remote.ts';

const wire = { redact: (text: string) => text.replaceAll('sk-secret', '[redacted]') };

function remoteOf(job: object, count: number | undefined = 30) {
  return toTogetherRemote({ id: 'job-1', ...job }, wire, count);
}

it.each([
  ['VALIDATING', 'queued'],
  ['IN_PROGRESS', 'running'],
  ['CANCELING', 'cancelling'],
  ['CANCELLING', 'cancelling'],
  ['COMPLETED', 'ended'],
  ['FAILED', 'ended'],
  ['EXPIRED', 'ended'],
  ['CANCELLED', 'ended'],
  ['CANCELED', 'ended'],
  ['SOMETHING_NEW', 'running'],
])('understands %s as %s', (status, state) => {
  expect(remoteOf({ status })).toMatchObject({ state, raw: status });
});

describe('progress in percent', () => {
  it.each([
    [0, 0],
    [33.3, 10],
    [66.666, 20],
    [100, 30],
    [250, 30],
    [-1, 0],
  ])('of %d is so many of thirty requests: %d', (progress, completed) => {
    const { counts } = remoteOf({ status: 'IN_PROGRESS', progress });
    expect(counts).toEqual({ total: 30, completed, failed: 0 });
  });

  it('is not shown where the number of requests, or the progress, is unknown', () => {
    const job = { status: 'IN_PROGRESS', progress: 50 };
    expect(toTogetherRemote({ id: 'job-1', ...job }, wire, undefined).counts).toBe(undefined);
    for (const progress of [undefined, null, '50', Number.NaN]) {
      expect(remoteOf({ status: 'IN_PROGRESS', progress })).not.toHaveProperty('counts');
    }
  });

  it('proves nothing about the results of a batch that has ended', () => {
    const job = { status: 'COMPLETED', progress: 100, error_file_id: 'file-e' };
    expect(remoteOf(job)).not.toHaveProperty('counts');
    // Only its lines show whether the error file is all there is: an output file may be named later.
    expect(remoteOf(job)).toHaveProperty('incomplete', true);
  });
});

describe('a job that failed', () => {
  it('has the text of its error as the reason, without credentials', () => {
    const { failure } = remoteOf({ status: 'FAILED', error: 'model x is not batched, sk-secret' });
    expect(failure).toMatchObject({ next: 'fail', message: 'model x is not batched, [redacted]' });
    expect(failure?.answer).toMatchObject({ status: 400 });
    expect(failure?.answer?.body).toContain('not batched');
  });

  it('is one failure although it has an error file, where it says why', () => {
    const job = { status: 'FAILED', error: 'bad file', error_file_id: 'file-e' };
    expect(remoteOf(job)).toMatchObject({ failure: { message: 'bad file' }, sources: {} });
  });

  it('has results where it has an output file', () => {
    const files = { output_file_id: 'file-o', error_file_id: 'file-e' };
    const remote = remoteOf({ status: 'FAILED', error: 'broke off', ...files });
    expect(remote).not.toHaveProperty('failure');
    expect(remote.sources).toEqual({ output: 'file-o', errors: 'file-e' });
  });
});

describe('the files of a job that ended early', () => {
  it.each(['EXPIRED', 'CANCELLED'])('are waited for unless nothing was begun: %s', (status) => {
    expect(remoteOf({ status, progress: 40 })).toHaveProperty('incomplete', true);
    expect(remoteOf({ status })).toHaveProperty('incomplete', true);
    expect(remoteOf({ status, progress: 0 })).not.toHaveProperty('incomplete');
  });

  it('are waited for where it was completed', () => {
    expect(remoteOf({ status: 'COMPLETED', progress: 0 })).toHaveProperty('incomplete', true);
  });
});
