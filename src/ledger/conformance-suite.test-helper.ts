import { describe } from 'vitest';
import { admitConformance } from './conformance/admit.test-helper.ts';
import { batchConformance } from './conformance/batches.test-helper.ts';
import { claimConformance } from './conformance/claim.test-helper.ts';
import { keepingConformance } from './conformance/keeping.test-helper.ts';
import { killedConformance } from './conformance/killed.test-helper.ts';
import type { LedgerSubject } from './conformance/subject.test-helper.ts';

/** What every ledger has to do; each implementation's test calls it. */
export function ledgerConformance(subject: LedgerSubject): void {
  describe(`${subject.name} conforms`, () => {
    keepingConformance(subject);
    admitConformance(subject);
    batchConformance(subject);
    claimConformance(subject);
    killedConformance(subject);
  });
}
