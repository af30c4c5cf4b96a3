import type { Command } from 'commander';
import { shownStore } from '../../base/store-address.ts';
import type { BatchSummary, Ledger, OpenBatch } from '../../ledger/ledger.ts';
import { findSlow, type Slowness } from '../../orchestrator/model/find-slow.ts';
import { collectCommand } from '../../report/text/collect-command.ts';
import { ShortIds } from '../../report/text/short-ids.ts';
import { stateWords } from '../../report/text/state-words.ts';
import { counted, dollars, number } from '../../report/text/summary.ts';
import { batchJson, byToken } from '../print/batch-json.ts';
import { ageOf } from '../print/batch-words.ts';
import { columns, print, printJson } from '../print/output.ts';
import { type Column, table } from '../print/text-table.ts';
import { addLedgerFlags } from '../store/ledger-flags.ts';
import {
  type LedgerFlags,
  noLedger,
  openExisting,
  optionsFor,
  withLedger,
} from '../store/open-store.ts';
import { usageError } from '../usage-error.ts';

interface LsFlags extends LedgerFlags {
  readonly open?: boolean;
  readonly all?: boolean;
  readonly limit: string;
}

export function define(command: Command): void {
  addLedgerFlags(command)
    .option('--open', 'only batches that are not over')
    .option('--limit <number>', 'show at most this many', '20')
    .option('--all', 'show all of them')
    .addHelpText('after', examples)
    .action(ls);
}

const examples = `
Examples:
  $ batchling ls                 the newest 20 batches
  $ batchling ls --open          what is under way
  $ batchling ls --all --json    everything, for another program`;

/** The newest batches, the newest last: there the eye is when the command has ended. */
async function ls(flags: LsFlags): Promise<void> {
  const limit = flags.all ? undefined : limitOf(flags.limit);
  const options = await optionsFor(flags);
  const ledger = await openExisting(options);
  if (ledger === undefined) {
    if (flags.json) await printJson({ store: shownStore(options.store), batches: [], total: 0 });
    else await print(noLedger(options));
    return;
  }
  const now = options.clock.now();
  const { listed, open, slow } = await withLedger(ledger, (opened) => read(opened, flags, now));
  const shown = listed.slice(0, limit).reverse();
  if (flags.json) {
    const batches = shown.map((batch) =>
      batchJson(batch, open.get(batch.token), slow.get(batch.token)),
    );
    await printJson({ store: shownStore(options.store), batches, total: listed.length });
    return;
  }
  if (shown.length === 0) {
    await print(
      flags.open ? 'No batch is open.' : `The ledger ${shownStore(options.store)} has no batches.`,
    );
    return;
  }
  const rows = shown.map((batch) =>
    rowOf(batch, open.get(batch.token), slow.get(batch.token), now),
  );
  const lines = [
    ...tableOf(rows, columns()),
    '',
    ...footer(listed, shown.length, open, flags.store),
  ];
  await print(lines);
}

async function read(ledger: Ledger, { open }: LsFlags, now: number) {
  const listed = await ledger.list(open ? { open } : {});
  const unfinished = await ledger.unfinished();
  const slow = await findSlow(ledger, listed, unfinished, now);
  return { listed, open: byToken(unfinished), slow };
}

function limitOf(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw usageError(`--limit must be a whole number of at least 1, but got: ${text}`);
}

const titles: readonly Column[] = [
  { title: 'ID' },
  { title: 'STATE' },
  { title: 'PROVIDER', atLeast: 6 },
  { title: 'MODEL', atLeast: 6 },
  { title: 'SENT', align: 'right' },
  { title: 'DONE', align: 'right' },
  { title: 'AGE', align: 'right' },
  { title: 'COST', align: 'right' },
  { title: 'NAME', atLeast: 4 },
];

/** Where there is no room, ids are shortened first: their beginnings are enough, unlike those of names and models. */
function tableOf(rows: readonly (readonly string[])[], width: number): string[] {
  const whole = table(...withoutEmpty(titles, rows), Infinity);
  if (whole.every((line) => line.length <= width)) return whole;
  const ids = new ShortIds();
  const shortened = rows.map(([id = '', ...rest]) => [ids.in(id), ...rest]);
  return table(...withoutEmpty(titles, shortened), width);
}

/** Columns in which something stands, such as names where batches have some. */
function withoutEmpty(
  titles: readonly Column[],
  rows: readonly (readonly string[])[],
): [titles: Column[], rows: string[][]] {
  const isUsed = (_: unknown, index: number) => rows.some((row) => row[index] !== '');
  return [titles.filter(isUsed), rows.map((row) => row.filter(isUsed))];
}

function rowOf(
  batch: BatchSummary,
  open: OpenBatch | undefined,
  slow: Slowness | undefined,
  now: number,
): string[] {
  const { token, provider, model, count, answered, createdAt, name = '' } = batch;
  return [
    token,
    stateWords(batch, open?.owner !== undefined, slow),
    provider,
    model,
    number(count),
    number(answered),
    ageOf(now - createdAt),
    costOf(batch),
    name,
  ];
}

/** What was paid; of a batch that is not over, what it may cost. */
function costOf({ cost, endedAt }: BatchSummary): string {
  if (cost?.paid !== undefined) return dollars(cost.paid);
  return cost?.estimate === undefined || endedAt !== undefined ? '' : `~${dollars(cost.estimate)}`;
}

function footer(
  listed: readonly BatchSummary[],
  shown: number,
  open: ReadonlyMap<string, OpenBatch>,
  store: string | undefined,
): string[] {
  const requests = listed.reduce((total, { count }) => total + count, 0);
  const done = listed.reduce((total, batch) => total + batch.answered, 0);
  const batches = counted(listed.length, 'batch', 'batches');
  const part = shown < listed.length ? `The newest ${number(shown)} of ${batches}` : batches;
  const lines = [
    `${part}: ${counted(requests, 'request')}, ${number(done)} of them done.` +
      (shown < listed.length ? ' --all shows all.' : ''),
  ];
  const left = [...open.values()].filter(({ owner }) => owner === undefined);
  if (left.length > 0) {
    const are = left.length === 1 ? 'is' : 'are';
    lines.push(
      `${counted(left.length, 'open batch', 'open batches')} ${are} waited for by no process: ` +
        `${collectCommand(store)} fetches the answers,`,
      'and so does running the program again.',
    );
  }
  return lines;
}
