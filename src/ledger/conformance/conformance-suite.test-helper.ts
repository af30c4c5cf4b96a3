import { describe } from 'vitest';
import { admitConformance } from './admit.test-helper.ts';
import { batchConformance } from './batches.test-helper.ts';
import { claimConformance } from './claim.test-helper.ts';
import { costConformance } from './costs.test-helper.ts';
import { dailyCostConformance } from './daily-costs.test-helper.ts';
import { keepingConformance } from './keeping.test-helper.ts';
import { killedConformance } from './killed.test-helper.ts';
import { lostOwnerConformance } from './lost-owners.test-helper.ts';
import { outboxConformance } from './outbox.test-helper.ts';
import { outcomeConformance } from './outcomes.test-helper.ts';
import { readingConformance } from './reading.test-helper.ts';
import { sentConformance } from './sent.test-helper.ts';
import type { LedgerSubject } from './subject.test-helper.ts';
import { viewConformance } from './view.test-helper.ts';

/** What every ledger has to do; each implementation's test calls it. */
export function ledgerConformance(subject: LedgerSubject): void {
  describe(`${subject.name} conforms`, () => {
    keepingConformance(subject);
    admitConformance(subject);
    batchConformance(subject);
    outcomeConformance(subject);
    sentConformance(subject);
    costConformance(subject);
    dailyCostConformance(subject);
    readingConformance(subject);
    viewConformance(subject);
    claimConformance(subject);
    killedConformance(subject);
    lostOwnerConformance(subject);
    outboxConformance(subject);
  });
}
