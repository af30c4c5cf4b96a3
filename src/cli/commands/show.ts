import type { Command } from 'commander';
import type { BatchSummary, Ledger, OpenBatch } from '../../ledger/ledger.ts';
import { findSlow, type Slowness } from '../../orchestrator/model/find-slow.ts';
import { number } from '../../report/text/summary.ts';
import { batchFacts } from '../print/batch-facts.ts';
import { batchJson } from '../print/batch-json.ts';
import { columns, jsonText, print, writeTo } from '../print/output.ts';
import { memberJson, RequestTally, requestColumns, requestRow } from '../print/request-rows.ts';
import { table } from '../print/text-table.ts';
import { findBatch } from '../store/find-batch.ts';
import { addLedgerFlags } from '../store/ledger-flags.ts';
import { memberPages } from '../store/member-pages.ts';
import { type LedgerFlags, optionsFor, requireLedger, withLedger } from '../store/open-store.ts';

interface ShowFlags extends LedgerFlags {
  readonly requests?: boolean;
}

interface Shown {
  readonly batch: BatchSummary;
  readonly open: OpenBatch | undefined;
  readonly slow: Slowness | undefined;
}

/** How many requests are shown without `--requests`. */
const first = 10;

export function define(command: Command): void {
  addLedgerFlags(command)
    .argument('<id>', 'id as `ls` shows it, its beginning, or the id at the provider')
    .option('--requests', `list all requests instead of the first ${first}`)
    .addHelpText('after', examples)
    .action(show);
}

const examples = `
Examples:
  $ batchling show bl_0123456789abcdef
  $ batchling show 0123                  the beginning is enough where only one batch has it
  $ batchling show batch_abc --requests  the provider's id, with all requests`;

async function show(id: string, flags: ShowFlags): Promise<void> {
  const options = await optionsFor(flags);
  const ledger = await requireLedger(options);
  await withLedger(ledger, async () => {
    const batch = await findBatch(ledger, id);
    const unfinished = await ledger.unfinished();
    const open = unfinished.find(({ token }) => token === batch.token);
    const now = options.clock.now();
    const slow = (await findSlow(ledger, [batch], unfinished, now)).get(batch.token);
    const shown = { batch, open, slow };
    if (flags.json) await showJson(ledger, shown, flags);
    else await showText(ledger, shown, flags, now);
  });
}

async function showText(
  ledger: Ledger,
  { batch, open, slow }: Shown,
  { requests: all }: ShowFlags,
  now: number,
): Promise<void> {
  const tally = await tallyOf(ledger, batch);
  const lines = [...batchFacts(batch, open, tally, now, slow), ...tally.errorLines()];
  await print(lines);
  if (tally.total === 0) return;
  const shown = all ? tally.total : Math.min(first, tally.total);
  const part = shown < tally.total ? ` (the first ${first}; --requests lists all)` : '';
  await print(['', `${number(tally.total)} requests in the ledger${part}`]);
  let left = shown;
  for await (const members of memberPages(ledger, batch.token)) {
    const rows = members.slice(0, left).map((member) => requestRow(member));
    const page = table(requestColumns, rows, columns());
    await print(left === shown ? page : page.slice(1));
    left -= rows.length;
    if (left <= 0) return;
  }
}

/** One document. Its requests are written page by page: there may be fifty thousand. */
async function showJson(
  ledger: Ledger,
  { batch, open, slow }: Shown,
  { requests: all }: ShowFlags,
): Promise<void> {
  const tally = await tallyOf(ledger, batch);
  const facts = {
    ...batchJson(batch, open, slow),
    requests: tally.counts(batch),
    errors: tally.errors(),
  };
  await writeTo(process.stdout, `${jsonText(facts).slice(0, -1)},"members":[`);
  let written = 0;
  for await (const members of memberPages(ledger, batch.token)) {
    const shown = all ? members : members.slice(0, first - written);
    const text = shown.map((member) => jsonText(memberJson(member))).join(',');
    if (text !== '') await writeTo(process.stdout, `${written > 0 ? ',' : ''}${text}`);
    written += shown.length;
    if (!all && written >= first) break;
  }
  await print(']}');
}

async function tallyOf(ledger: Ledger, { token }: BatchSummary): Promise<RequestTally> {
  const tally = new RequestTally();
  for await (const members of memberPages(ledger, token)) tally.add(members);
  return tally;
}
