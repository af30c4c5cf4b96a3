import { messageOf } from '../../base/errors.ts';
import { withGrace } from '../../concurrency/background-work.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import { Mailbox } from '../../webhooks/mailbox.ts';
import { note } from '../print/output.ts';
import type { DoneSummary } from './done-summary.ts';

/**
 * Tells the webhook that a run of this command is over, by the ledger of the run. What cannot be delivered within
 * moments is left there. A failure is reported and changes nothing.
 */
export async function tellRunDone(
  options: () => ResolvedOptions | Promise<ResolvedOptions>,
  summary: DoneSummary,
): Promise<void> {
  try {
    const { webhook, store, clock, keep, logger } = await options();
    if (webhook === undefined) return;
    const { openLedger } = await import('../../ledger/open-ledger.ts');
    const ledger = await openLedger(store, { clock, keep, logger, warn: note });
    try {
      const { outbox, salt } = ledger;
      const mailbox = new Mailbox({ outbox, salt, clock, logger, warn: note });
      mailbox.use(webhook);
      await mailbox.runDone(summary);
      await withGrace(mailbox.flush());
      await mailbox.close();
    } finally {
      await ledger.close();
    }
  } catch (error) {
    note(`the webhook is not told that the run is over: ${messageOf(error)}`);
  }
}
