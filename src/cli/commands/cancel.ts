import type { Command } from 'commander';
import { createHttpClient } from '../../http/client.ts';
import { counted } from '../../report/text/summary.ts';
import { exitCodes } from '../exit-codes.ts';
import { byToken } from '../print/batch-json.ts';
import { confirm } from '../print/confirm.ts';
import { print, printJson } from '../print/output.ts';
import { type Cancelled, cancelOne } from '../store/cancelling.ts';
import { findBatches } from '../store/find-batch.ts';
import { readCredentialFlags } from '../store/find-credential.ts';
import { addLedgerFlags, credentialFlag } from '../store/ledger-flags.ts';
import { type LedgerFlags, optionsFor, requireLedger, withLedger } from '../store/open-store.ts';
import { Reachable } from '../store/reachable.ts';
import { usageError } from '../usage-error.ts';

interface CancelFlags extends LedgerFlags {
  readonly all?: boolean;
  readonly yes?: boolean;
  readonly credential?: readonly string[];
}

export function define(command: Command): void {
  addLedgerFlags(command)
    .argument('[ids...]', 'ids as `ls` shows them, their beginnings, or the ids at the providers')
    .option('--all', 'cancel all batches that are not over')
    .option('--yes', 'do not ask before cancelling all')
    .addOption(credentialFlag())
    .addHelpText('after', examples)
    .action(cancel);
}

const examples = `
What a provider has finished before is paid for and kept: \`batchling collect\`
fetches it. Google Gemini keeps nothing. The callers of a program that still waits get status 499.

Examples:
  $ batchling cancel bl_0123456789abcdef
  $ batchling cancel --all --yes`;

async function cancel(ids: readonly string[], flags: CancelFlags): Promise<void> {
  if (ids.length > 0 === (flags.all === true)) {
    throw usageError('name the batches to cancel, or give --all; `batchling ls --open` lists them');
  }
  const named = readCredentialFlags(flags.credential);
  const options = await optionsFor(flags);
  const ledger = await requireLedger(options);
  const http = createHttpClient({ clock: options.clock, dispatcher: options.dispatcher });
  try {
    await withLedger(ledger, async () => {
      const batches = flags.all
        ? await ledger.list({ open: true })
        : await findBatches(ledger, ids);
      if (flags.all && !flags.yes && batches.length > 0) {
        const what = counted(batches.length, 'batch', 'batches');
        if (!(await confirm(`Cancel ${what}?`, true))) return;
      }
      const canceller = { ledger, http, reachable: new Reachable(ledger, options, named) };
      const open = byToken(await ledger.unfinished());
      const outcomes: Cancelled[] = [];
      for (const batch of batches) {
        const outcome = await cancelOne(canceller, batch, open.get(batch.token));
        outcomes.push(outcome);
        if (!flags.json) await print(`${outcome.id}  ${outcome.text}`);
      }
      if (flags.json) await printJson({ batches: outcomes });
      else if (batches.length === 0) await print('No batch is open.');
      if (outcomes.some(({ outcome }) => outcome === 'failed')) process.exitCode = exitCodes.failed;
    });
  } finally {
    await http.close();
  }
}
