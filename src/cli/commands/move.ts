import type { Command } from 'commander';
import { shownStore } from '../../base/store-address.ts';
import { type Copied, copyContents } from '../../ledger/copy/copy-contents.ts';
import { openReader, openWriter } from '../../ledger/open-contents.ts';
import { resolveOptions } from '../../options/index.ts';
import { counted, number } from '../../report/text/summary.ts';
import { warnOnce } from '../../report/warn-once.ts';
import { note, print, printJson } from '../print/output.ts';
import { usageError } from '../usage-error.ts';

export function define(command: Command): void {
  command
    .argument('<from>', 'the ledger: a file, or postgres://user@host/database')
    .argument('<to>', 'the new place of the ledger, where there is none yet')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(move);
}

const examples = `
Everything is copied: answers, batches that are under way, learnt limits, costs. No
process may work with the ledger meanwhile. The old ledger stays as it is; use only
the new one from then on. If the command is interrupted, the new place stays empty,
so run it again.

Examples:
  $ batchling move ~/.cache/batchling/ledger.db postgres://me@db.example/calls
  $ batchling move postgres://me@db.example/calls ./ledger.db`;

async function move(from: string, to: string, { json }: { json?: boolean }): Promise<void> {
  const [source, target] = [from, to].map(storeOf) as [string, string];
  if (source === target) throw usageError('name two different places');
  const copied = await copy(source, target);
  const shown = { from: shownStore(source), to: shownStore(target) };
  if (json) await printJson({ ...shown, ...copied });
  else await print(report(shown, copied));
}

function storeOf(text: string): string {
  const { store } = resolveOptions({ store: text });
  if (store === ':memory:') throw usageError('a ledger in memory ends with its program');
  return store;
}

async function copy(source: string, target: string): Promise<Copied> {
  const reader = await openReader(source, warnOnce);
  if (reader === undefined) throw new Error(`There is no ledger at ${shownStore(source)}.`);
  try {
    const writer = await openWriter(target);
    try {
      return await copyContents(reader, writer, await progress(reader.countRequests()));
    } finally {
      await writer.close();
    }
  } finally {
    await reader.close();
  }
}

const SECONDS_BETWEEN_NOTES = 2;

/** Tells how far it has come, now and then. */
async function progress(counting: Promise<number>): Promise<(requests: number) => void> {
  const all = await counting;
  let nextAt = performance.now() + SECONDS_BETWEEN_NOTES * 1_000;
  return (requests) => {
    if (performance.now() < nextAt) return;
    nextAt = performance.now() + SECONDS_BETWEEN_NOTES * 1_000;
    note(`${number(requests)} of ${counted(all, 'request')} copied`);
  };
}

function report(shown: { from: string; to: string }, copied: Copied): string[] {
  const batches = counted(copied.batches, 'batch', 'batches');
  return [
    `Copied ${batches} (${number(copied.open)} of them open), ${counted(copied.requests, 'request')} and ` +
      `${counted(copied.answers, 'answer')} to ${shown.to}.`,
    `Use it with BATCHLING_STORE or the option store, and no longer ${shown.from}, which is unchanged: two`,
    'ledgers do not know of what the other one has paid for.',
  ];
}
