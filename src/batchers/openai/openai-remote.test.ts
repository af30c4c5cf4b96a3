import { describe, expect, it } from 'vitest';
import { UnknownOutcomeError } from '../../base/errors.ts';
import { toRemote } from './openai-remote.ts';

const wire = { redact: (text: string) => text.replaceAll('sk-1234', '[redacted]') };

function remoteOf(fields: Record<string, unknown>) {
  return toRemote({ id: 'batch_1', object: 'batch', ...fields }, wire);
}

describe('the state of a batch', () => {
  it.each([
    ['validating', 'queued'],
    ['in_progress', 'running'],
    ['finalizing', 'finalizing'],
    ['cancelling', 'cancelling'],
    ['completed', 'ended'],
    ['failed', 'ended'],
    ['expired', 'ended'],
    ['cancelled', 'ended'],
    ['paused_of_tomorrow', 'running'],
  ] as const)('%s is %s, in any case', (status, state) => {
    for (const raw of [status, status.toUpperCase(), capitalised(status)]) {
      const remote = remoteOf({ status: raw });
      expect(remote).toMatchObject({ id: 'batch_1', state, raw, readable: state === 'ended' });
    }
  });

  it('is not over where there is no status', () => {
    for (const status of [undefined, null, '', 7]) {
      expect(remoteOf({ status })).toMatchObject({ state: 'running', raw: 'unknown' });
    }
  });

  it('is unknown without an id: the batch may have been made all the same', () => {
    for (const batch of [{ status: 'completed' }, { id: '' }, { id: null }, null, 'text', []]) {
      expect(() => toRemote(batch, wire)).toThrow(UnknownOutcomeError);
    }
  });
});

describe('the result files of a batch', () => {
  it.each([
    ['both', 'file-o', 'file-e', { output: 'file-o', errors: 'file-e' }],
    ['only answers', 'file-o', null, { output: 'file-o' }],
    ['only errors', null, 'file-e', { errors: 'file-e' }],
    ['an empty id for no errors', 'file-o', '', { output: 'file-o' }],
    ['an empty id for no answers', '', 'file-e', { errors: 'file-e' }],
    ['none', undefined, undefined, {}],
  ])('are %s', (_what, output_file_id, error_file_id, sources) => {
    const remote = remoteOf({ status: 'completed', output_file_id, error_file_id });
    expect(remote.sources).toEqual(sources);
    expect(remote).not.toHaveProperty('failure');
  });

  it('are read after an expiry and a cancellation, too', () => {
    for (const status of ['expired', 'cancelled']) {
      const remote = remoteOf({ status, output_file_id: 'file-o' });
      expect(remote).toMatchObject({ readable: true, sources: { output: 'file-o' } });
      expect(remote).not.toHaveProperty('failure');
    }
  });
});

describe('results that are still to come', () => {
  const request_counts = { total: 9, completed: 8, failed: 1 };

  it('are those of a completed batch whose answers are in no file', () => {
    for (const output_file_id of [null, '', undefined]) {
      const remote = remoteOf({ status: 'completed', request_counts, output_file_id });
      expect(remote).toMatchObject({ state: 'ended', incomplete: true });
    }
    const errors = remoteOf({ status: 'completed', request_counts, error_file_id: 'file-e' });
    expect(errors).toMatchObject({ readable: true, incomplete: true });
  });

  it.each([
    ['null', null],
    ['absent', undefined],
    ['of null', { total: null, completed: null, failed: null }],
    ['zero but for the total', { total: 9, completed: 0, failed: 0 }],
  ])('are those of a completed batch without any file whose counts are %s', (_what, counts) => {
    for (const id of [null, '', undefined]) {
      const files = { output_file_id: id, error_file_id: id };
      const remote = remoteOf({ status: 'Completed', request_counts: counts, ...files });
      expect(remote).toMatchObject({ state: 'ended', incomplete: true });
    }
  });

  it.each([null, undefined, { total: 9, completed: null }])(
    'are those of a batch that ended early without any file, with the counts %j',
    (request_counts) => {
      for (const status of ['expired', 'cancelled', 'EXPIRED']) {
        expect(remoteOf({ status, request_counts })).toMatchObject({ incomplete: true });
      }
    },
  );

  it.each(['completed', 'expired', 'cancelled'])(
    'may be those of a batch that is %s, has an error file and no counts: its lines will show',
    (status) => {
      for (const counts of [null, undefined, { total: null, completed: null, failed: null }]) {
        const remote = remoteOf({ status, request_counts: counts, error_file_id: 'file-e' });
        expect(remote).toMatchObject({ readable: true, incomplete: true });
      }
    },
  );

  it('are none where the file is there, or nothing was completed, or it runs', () => {
    const nothing = { ...request_counts, completed: 0 };
    for (const fields of [
      { status: 'completed', request_counts, output_file_id: 'file-o' },
      { status: 'completed', request_counts: nothing, error_file_id: 'file-e' },
      { status: 'completed', request_counts: { total: 0, completed: 0, failed: 0 } },
      { status: 'cancelled', request_counts: nothing },
      { status: 'expired', request_counts: nothing },
      { status: 'failed', request_counts: null },
      { status: 'in_progress', request_counts },
    ]) {
      expect(remoteOf(fields)).not.toHaveProperty('incomplete');
    }
  });
});

describe('the counts of a batch', () => {
  it('are kept', () => {
    const request_counts = { total: 9, completed: 8, failed: 1 };
    expect(remoteOf({ status: 'in_progress', request_counts }).counts).toEqual(request_counts);
  });

  it('are zero where they are no numbers, and absent where there are none', () => {
    const request_counts = { total: '9', completed: null };
    expect(remoteOf({ request_counts }).counts).toEqual({ total: 0, completed: 0, failed: 0 });
    expect(remoteOf({ request_counts: null })).not.toHaveProperty('counts');
    expect(remoteOf({})).not.toHaveProperty('counts');
  });
});

describe('a batch that was refused', () => {
  function failureOf(errors: unknown, status = 'failed') {
    return remoteOf({ status, errors }).failure;
  }

  const entry = { code: 'invalid_json_line', message: 'Line 3 is broken.', param: null, line: 3 };

  it.each([
    ['a list object', { object: 'list', data: [entry] }],
    ['a bare list', [entry]],
    ['one object', entry],
  ])('says why in %s', (_what, errors) => {
    const failure = failureOf(errors);
    expect(failure).toMatchObject({
      code: 'invalid_json_line',
      message: 'Line 3 is broken.',
      next: 'isolate',
      bad: [{ line: 3, answer: failure?.answer }],
      answer: { status: 400, headers: { 'content-type': 'application/json' } },
    });
    expect(JSON.parse(failure?.answer?.body ?? '')).toEqual({
      error: {
        message: 'Line 3 is broken.',
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_json_line',
      },
    });
  });

  it.each([
    ['text', 'out of order'],
    ['a list of texts', ['out of order']],
    ['an object without a code', { message: 'out of order' }],
  ])('says why in %s', (_what, errors) => {
    expect(failureOf(errors)).toMatchObject({
      code: 'batch_failed',
      message: 'out of order',
      next: 'fail',
    });
  });

  it('has a message although the provider gave none', () => {
    for (const errors of [undefined, null, '', [], {}, { data: [] }, { data: [{}] }, 7]) {
      const failure = failureOf(errors);
      expect(failure).toMatchObject({ code: 'batch_failed', next: 'fail' });
      expect(failure?.message).toMatch(/without a reason/);
    }
  });

  it.each([
    ['token_limit_exceeded', null, 'later'],
    ['too_many_tasks', null, 'smaller'],
    ['duplicate_custom_id', 7, 'isolate'],
    ['url_mismatch', 1, 'isolate'],
    ['model_not_found', 1, 'fail'],
    ['empty_file', null, 'fail'],
    ['code_of_tomorrow', null, 'fail'],
  ])('with %s at line %s goes on with: %s', (code, line, next) => {
    expect(failureOf({ data: [{ code, message: 'no', line }] })?.next).toBe(next);
  });

  it('names every line that is at fault, each with its own reason', () => {
    const second = { code: 'duplicate_custom_id', message: 'Line 9 again.', line: 9 };
    const bad = failureOf({ data: [entry, second] })?.bad ?? [];
    expect(bad.map(({ line }) => line)).toEqual([3, 9]);
    expect(bad.map(({ answer }) => JSON.parse(answer.body).error.message)).toEqual([
      'Line 3 is broken.',
      'Line 9 again.',
    ]);
  });

  it.each([
    [
      'Enqueued token limit reached for gpt-5 in organization org-1. Limit: 90,000 enqueued',
      90_000,
    ],
    ['Limit: 200000 enqueued tokens.', 200_000],
    ['Please try again later.', undefined],
  ])('says how much may wait, where it says so: %s', (message, limit) => {
    const failure = failureOf({ data: [{ code: 'token_limit_exceeded', message, line: null }] });
    expect(failure?.next).toBe('later');
    expect(failure?.limit).toBe(limit);
  });

  it('has no room for requests to embed, of which no number of tokens is told', () => {
    const message = 'Enqueued request limit reached for m. Limit: 1,000,000 enqueued requests.';
    const failure = failureOf({ data: [{ code: 'unheard_of', message, line: null }] });
    expect(failure).toMatchObject({ meaning: 'full', next: 'later' });
    expect(failure).not.toHaveProperty('limit');
  });

  it('shows no credential that the provider echoes', () => {
    const told = 'Not with sk-1234.';
    const first = { code: 'bad sk-1234', message: told, param: 'sk-1234', line: 1 };
    const failures = [{ data: [first, { ...first, line: 2 }] }, [told], told].map((errors) =>
      failureOf(errors),
    );
    expect(JSON.stringify(failures)).not.toContain('sk-1234');
    for (const failure of failures) expect(failure?.message).toBe('Not with [redacted].');
    expect(failures[0]?.bad?.map(({ answer }) => JSON.parse(answer.body).error.param)).toEqual([
      '[redacted]',
      '[redacted]',
    ]);
  });

  it('is judged by the words of the provider, even where the key is one of them', () => {
    const redact = (text: string) => text.replaceAll('limit', '[redacted]');
    const errors = [{ code: 'token_limit_exceeded', message: 'Enqueued limit: 90,000' }];
    const { failure } = toRemote({ id: 'batch_1', status: 'failed', errors }, { redact });
    expect(failure).toMatchObject({ next: 'later', limit: 90_000 });
    expect(failure?.message).toBe('Enqueued [redacted]: 90,000');
  });

  it('in capitals is refused all the same', () => {
    expect(failureOf([entry], 'FAILED')).toMatchObject({ code: 'invalid_json_line' });
  });

  it('but has result files is read like any other', () => {
    const remote = remoteOf({ status: 'failed', errors: [entry], error_file_id: 'file-e' });
    expect(remote).toMatchObject({ readable: true, sources: { errors: 'file-e' } });
    expect(remote).not.toHaveProperty('failure');
  });
});

function capitalised(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
