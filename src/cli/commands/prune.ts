import type { Command } from 'commander';
import type { PruneQuery } from '../../ledger/ledger.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import { bytes, duration } from '../../options/scalars.ts';
import { counted } from '../../report/text/summary.ts';
import { bytesOf } from '../print/batch-words.ts';
import { print, printJson } from '../print/output.ts';
import { addLedgerFlags, readFlag } from '../store/ledger-flags.ts';
import {
  type LedgerFlags,
  noLedger,
  openExisting,
  optionsFor,
  withLedger,
} from '../store/open-store.ts';
import { usageError } from '../usage-error.ts';

interface PruneFlags extends LedgerFlags {
  readonly olderThan?: string;
  readonly maxSize?: string;
  readonly all?: boolean;
  readonly dryRun?: boolean;
}

export function define(command: Command): void {
  addLedgerFlags(command)
    .option('--older-than <duration>', 'drop what has been finished for this long, such as 7d')
    .option('--max-size <bytes>', 'then drop the oldest answers until the ledger is this small')
    .option('--all', 'drop everything that is finished')
    .option('--dry-run', 'only say what would be dropped')
    .addHelpText('after', examples)
    .action(prune);
}

const examples = `
Without a flag, what is older than the option retention (30d) is dropped. Batches
that are under way, and what a living process uses, always stay.

Examples:
  $ batchling prune --older-than 7d --dry-run
  $ batchling prune --max-size 500MB`;

async function prune(flags: PruneFlags): Promise<void> {
  const options = await optionsFor(flags);
  const query = queryOf(flags, options);
  const ledger = await openExisting(options);
  const dryRun = flags.dryRun === true;
  if (ledger === undefined) {
    if (flags.json) await printJson({ requests: 0, batches: 0, bytes: 0, dryRun });
    else await print(noLedger(options));
    return;
  }
  const report = await withLedger(ledger, () => ledger.prune({ ...query, shrinks: true }));
  if (flags.json) {
    await printJson({ ...report, dryRun });
    return;
  }
  const { requests, batches, bytes: size } = report;
  if (requests + batches === 0) {
    await print('Nothing to drop: no request is that old, or all of them are in use.');
    return;
  }
  const what =
    `${counted(requests, 'request')} with ${bytesOf(size)} of answers and bodies, and ` +
    counted(batches, 'batch', 'batches');
  await print(dryRun ? `Would drop ${what}. Nothing was dropped.` : `Dropped ${what}.`);
}

function queryOf(flags: PruneFlags, { retention }: ResolvedOptions): PruneQuery {
  const { olderThan, maxSize, all, dryRun = false } = flags;
  if (all && (olderThan !== undefined || maxSize !== undefined)) {
    throw usageError('--all drops everything: leave out --older-than and --max-size');
  }
  // -1 includes requests that are finished at this very moment.
  if (all) return { olderThan: -1, dryRun };
  const age =
    olderThan === undefined ? undefined : readFlag('--older-than', olderThan, duration(0));
  const size = maxSize === undefined ? undefined : readFlag('--max-size', maxSize, bytes);
  return {
    ...(age !== undefined && { olderThan: age }),
    ...(size !== undefined && { maxBytes: size }),
    ...(age === undefined && size === undefined && { olderThan: retention }),
    dryRun,
  };
}
