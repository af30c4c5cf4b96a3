import { describe, expect, it } from 'vitest';
import { toRemote } from './vertex-job.ts';

const wire = { redact: (text: string) => text };
const name = 'projects/1/locations/us-central1/batchPredictionJobs/2';

function remoteOf(state: string, given: object = {}) {
  return toRemote({ name, state: `JOB_STATE_${state}`, ...given }, wire, 3);
}

describe('a job that was cut short', () => {
  const states = [
    ['CANCELLED', 'cancelled'],
    ['EXPIRED', 'expired'],
  ] as const;

  it.each(states)(
    '(%s) and has run requests is waited for, until it says where they are',
    (state, unfinished) => {
      const counted = { completionStats: { successfulCount: '2', incompleteCount: '1' } };
      expect(remoteOf(state, counted)).toMatchObject({
        readable: false,
        incomplete: true,
        unfinished,
      });
      const told = { ...counted, outputInfo: { gcsOutputDirectory: 'gs://mine/out' } };
      const last = remoteOf(state, told);
      expect(last).toMatchObject({ readable: true, sources: { directory: 'gs://mine/out' } });
      expect(last).not.toHaveProperty('incomplete');
    },
  );

  it.each(states)('(%s) before anything ran is not waited for', (state, unfinished) => {
    for (const stats of [undefined, { incompleteCount: '3' }]) {
      const last = remoteOf(state, { completionStats: stats });
      expect(last).toMatchObject({ readable: false, unfinished });
      expect(last).not.toHaveProperty('incomplete');
    }
  });
});
