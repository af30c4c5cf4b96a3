import { describe, expect, it } from 'vitest';
import { UnknownOutcomeError } from '../../base/errors.ts';
import { toXaiRemote } from './xai-remote.ts';

const wire = { redact: (text: string) => text.replaceAll('sk-secret', '***') };
const now = Date.parse('2026-09-01T12:00:00Z');
const polled = { now, sent: 10 };

function batch(
  [total, pending, success, error, cancelled]: readonly number[],
  more: Record<string, unknown> = {},
) {
  return {
    batch_id: 'batch_1',
    name: 'mine',
    create_time: '2026-09-01T10:00:00Z',
    expire_time: '2026-10-01T10:00:00Z',
    cancel_time: null,
    cancel_by_xai_message: null,
    state: {
      num_requests: total,
      num_pending: pending,
      num_success: success,
      num_error: error,
      num_cancelled: cancelled,
    },
    ...more,
  };
}

describe('a batch of xAI', () => {
  it.each([
    ['the file is not read yet', batch([0, 0, 0, 0, 0]), 'queued', false, 'no requests yet'],
    ['nothing has finished', batch([10, 10, 0, 0, 0]), 'running', false, '10 of 10 pending'],
    ['some have finished', batch([10, 3, 5, 2, 0]), 'running', true, '3 of 10 pending'],
    ['all of the half that is read', batch([5, 0, 5, 0, 0]), 'running', true, '0 of 5 pending'],
    ['all have finished', batch([10, 0, 8, 2, 0]), 'ended', true, '0 of 10 pending'],
    ['some were cancelled one by one', batch([10, 0, 8, 0, 2]), 'ended', true, '0 of 10 pending'],
  ])('whose counters say that %s', (_what, object, state, readable, raw) => {
    expect(toXaiRemote(object, wire, polled)).toMatchObject({ state, readable, raw });
  });

  it('tells its counts, and reads numbers that are written as texts', () => {
    const state = { num_requests: '10', num_pending: '0', num_success: '9', num_error: '1' };
    expect(toXaiRemote(batch([], { state }), wire, polled)).toMatchObject({
      state: 'ended',
      counts: { total: 10, completed: 9, failed: 1 },
    });
  });

  it('without counters is looked into, but has not ended', () => {
    const remote = toXaiRemote(batch([], { state: null }), wire, polled);
    expect(remote).toMatchObject({ state: 'queued', readable: true });
    expect(remote.counts).toBeUndefined();
  });

  it('has not ended as long as nobody says how many requests were sent', () => {
    expect(toXaiRemote(batch([10, 0, 10, 0, 0]), wire).state).toBe('running');
  });

  it('that has no id is no batch', () => {
    const { batch_id: _, ...object } = batch([10, 0, 10, 0, 0]);
    expect(() => toXaiRemote(object, wire, polled)).toThrow(UnknownOutcomeError);
  });

  it('that xAI has cancelled before anything ran was refused, with its message', () => {
    const said = 'JSONL file validation failed: Model grok-x (sk-secret) is not supported';
    const more = { cancel_by_xai_message: said, cancel_time: '2026-09-01T11:59:59Z' };
    const remote = toXaiRemote(batch([0, 0, 0, 0, 0], more), wire);
    expect(remote).toMatchObject({ state: 'ended', raw: 'cancelled by xAI' });
    expect(remote.failure).toMatchObject({ meaning: 'refused', next: 'fail' });
    expect(remote.failure?.answer?.status).toBe(400);
    expect(JSON.parse(remote.failure?.answer?.body ?? '')).toEqual({
      code: 'batch_cancelled',
      error: said.replace('sk-secret', '***'),
    });
  });

  it('whose refusal names a line accuses that line', () => {
    const said = 'JSONL file validation failed: line 2: invalid JSON: expected value';
    const remote = toXaiRemote(batch([0, 0, 0, 0, 0], { cancel_by_xai_message: said }), wire);
    expect(remote.failure).toMatchObject({ next: 'isolate', bad: [{ line: 2 }] });
  });

  it('that xAI has cancelled when some had run is read, with the reason at hand', () => {
    const more = { cancel_by_xai_message: 'Too slow.', cancel_time: '2026-09-01T11:00:00Z' };
    const remote = toXaiRemote(batch([10, 0, 4, 0, 6], more), wire, polled);
    expect(remote).toMatchObject({ state: 'ended', readable: true, unfinished: 'cancelled' });
    expect(remote.failure).toBeUndefined();
    expect(remote.sources).toEqual({ cancelledBecause: 'Too slow.' });
  });

  it('with a message and no time of it is over, too', () => {
    const more = { cancel_by_xai_message: 'Too slow.' };
    expect(toXaiRemote(batch([10, 0, 4, 0, 6], more), wire, polled).state).toBe('ended');
  });

  it.each([
    ['seconds ago may still turn to success', '11:59:50', [10, 0, 4, 0, 6], 'cancelling'],
    ['a minute ago is settled', '11:59:00', [10, 0, 4, 0, 6], 'ended'],
    ['a minute ago still runs', '11:59:00', [10, 2, 4, 0, 4], 'cancelling'],
    ['hours ago runs no longer', '09:59:00', [10, 2, 4, 0, 4], 'ended'],
    ['seconds ago was complete already', '11:59:59', [10, 0, 9, 1, 0], 'ended'],
  ])('that was cancelled %s', (_what, time, counters, state) => {
    const more = { cancel_time: `2026-09-01T${time}Z` };
    const remote = toXaiRemote(batch(counters, more), wire, polled);
    expect(remote).toMatchObject({ state, raw: 'cancelled', unfinished: 'cancelled' });
  });

  it('that has expired is over, unless all of it had finished', () => {
    const more = { expire_time: '2026-09-01' };
    const unfinished = toXaiRemote(batch([10, 4, 6, 0, 0], more), wire, polled);
    expect(unfinished).toMatchObject({ state: 'ended', raw: 'expired', unfinished: 'expired' });
    const finished = toXaiRemote(batch([10, 0, 10, 0, 0], more), wire, polled);
    expect(finished.state).toBe('ended');
    expect(finished.unfinished).toBeUndefined();
  });
});
