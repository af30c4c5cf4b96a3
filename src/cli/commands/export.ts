import type { Command } from 'commander';
import { Option } from 'commander';
import type { BatchSummary, Ledger } from '../../ledger/ledger.ts';
import { counted, number } from '../../report/text/summary.ts';
import { openExport } from '../print/export-file.ts';
import { csvHead, csvRow, jsonRow } from '../print/export-rows.ts';
import { note, print, printJson } from '../print/output.ts';
import { findBatches } from '../store/find-batch.ts';
import { addLedgerFlags } from '../store/ledger-flags.ts';
import { memberPages } from '../store/member-pages.ts';
import { type LedgerFlags, optionsFor, requireLedger, withLedger } from '../store/open-store.ts';
import { usageError } from '../usage-error.ts';

interface ExportFlags extends LedgerFlags {
  readonly all?: boolean;
  readonly format: 'jsonl' | 'csv';
  readonly output?: string;
  readonly force?: boolean;
}

export function define(command: Command): void {
  addLedgerFlags(command)
    .argument('[ids...]', 'ids as `ls` shows them, their beginnings, or the ids at the providers')
    .option('--all', 'export all batches')
    .addOption(
      new Option('--format <name>', 'form of the rows').choices(['jsonl', 'csv']).default('jsonl'),
    )
    .option('--output <file>', 'where to write; without it, the rows are printed')
    .option('--force', 'replace a file that is there already')
    .addHelpText('after', examples)
    .action(exportBatches);
}

const examples = `
A row has its question where the program ran with --keep all.

Examples:
  $ batchling export bl_0123456789abcdef > answers.jsonl
  $ batchling export --all --format csv --output answers.csv`;

async function exportBatches(ids: readonly string[], flags: ExportFlags): Promise<void> {
  if (ids.length > 0 === (flags.all === true)) {
    throw usageError('name the batches to export, or give --all; `batchling ls` lists them');
  }
  const options = await optionsFor(flags);
  const ledger = await requireLedger(options);
  await withLedger(ledger, async () => {
    const batches = flags.all ? (await ledger.list()).reverse() : await findBatches(ledger, ids);
    const { rows, unasked } = await write(ledger, batches, flags);
    if (unasked > 0) note(withoutQuestion(rows, unasked));
    if (flags.output === undefined) return;
    const { output } = flags;
    if (flags.json) await printJson({ output, rows, batches: batches.length });
    else await print(`${counted(rows, 'row')} written to ${output}.`);
  });
}

function withoutQuestion(rows: number, unasked: number): string {
  const some =
    unasked === rows ? 'the rows have' : `${number(unasked)} of ${counted(rows, 'row')} have`;
  return (
    `${some} no question (request): the ledger keeps questions of programs that run with --keep all ` +
    '(option keep, variable BATCHLING_KEEP)'
  );
}

async function write(
  ledger: Ledger,
  batches: readonly BatchSummary[],
  { format, output, force = false }: ExportFlags,
): Promise<{ rows: number; unasked: number }> {
  const target = await openExport(output, force);
  let rows = 0;
  let asked = 0;
  try {
    if (format === 'csv') await target.write(csvHead);
    for (const batch of batches) {
      for await (const members of memberPages(ledger, batch.token)) {
        const bodies = await ledger.bodies(members.map(({ request }) => request));
        const toRow = format === 'csv' ? csvRow : jsonRow;
        const text = members.map((member) => toRow(batch, member, bodies.get(member.request)));
        await target.write(text.join(''));
        rows += members.length;
        asked += bodies.size;
      }
    }
  } catch (error) {
    await target.discard();
    throw error;
  }
  await target.finish();
  return { rows, unasked: rows - asked };
}
