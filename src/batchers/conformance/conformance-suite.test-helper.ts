import { describe, expect, it } from 'vitest';
import { formatConformance } from './format.test-helper.ts';
import { lineConformance } from './lines.test-helper.ts';
import { replyConformance } from './replies.test-helper.ts';
import { roundTripConformance } from './round-trip.test-helper.ts';
import { type BatcherSubject, testsOf } from './subject.test-helper.ts';

/** What every batcher has to do against its simulated provider; each batcher's test calls it. */
export function batcherConformance(subject: BatcherSubject): void {
  describe(`the batcher of ${subject.batcher.info.name} conforms:`, () => {
    const names = new Set<string>();
    const test = testsOf(subject, names);
    formatConformance(subject, test);
    roundTripConformance(subject, test);
    lineConformance(subject, test);
    replyConformance(subject, test);

    it('every skipped test exists', () => {
      for (const name of Object.keys(subject.skip ?? {})) expect(names).toContain(name);
    });
  });
}
