import { type Command, Option } from 'commander';
import { shownStore } from '../../base/store-address.ts';
import { dayOf, firstDayOf } from '../../ledger/daily-costs.ts';
import type { CostQuery, CostRow, Ledger } from '../../ledger/ledger.ts';
import { duration } from '../../options/scalars.ts';
import { type CostGroup, costGroups } from '../../report/text/cost-groups.ts';
import { counted, dollars } from '../../report/text/summary.ts';
import { costCsv, costJson, costTable, isUnknown } from '../print/cost-table.ts';
import { columns, print, printJson, writeTo } from '../print/output.ts';
import { addLedgerFlags, readFlag } from '../store/ledger-flags.ts';
import {
  type LedgerFlags,
  noLedger,
  openExisting,
  optionsFor,
  withLedger,
} from '../store/open-store.ts';
import { usageError } from '../usage-error.ts';

interface CostFlags extends LedgerFlags {
  readonly by: CostGroup;
  readonly since: string;
  readonly csv?: boolean;
}

export function define(command: Command): void {
  addLedgerFlags(command)
    .addOption(
      new Option('--by <what>', 'a row for each of these')
        .choices(Object.keys(costGroups))
        .default('day'),
    )
    .option('--since <age or day>', 'from this day on, such as 7d or 2026-11-01', '30d')
    .option('--csv', 'print comma-separated values, a row for each lane')
    .addHelpText('after', examples)
    .action(cost);
}

const examples = `
Days are those of UTC. CACHED and WRITTEN are the parts of the input that came out of
the provider's cache and that went in. ESTIMATE is what batches were expected to cost
at most. A call with several tags is in the rows of all of them.

Examples:
  $ batchling cost                             each of the last 30 days
  $ batchling cost --by model --since 7d
  $ batchling cost --by tag --since 2026-11-01
  $ batchling cost --by name --csv > costs.csv`;

/** What one call of the command shows. */
interface Costs {
  readonly rows: readonly CostRow[];
  readonly lanes: readonly CostRow[];
  readonly total: CostRow | undefined;
  /** Models of which calls have no known price. */
  readonly unpriced: readonly CostRow[];
  /** Batches that are not over, and what they may cost. */
  readonly underWay: { readonly batches: number; readonly estimate: number };
}

async function cost(flags: CostFlags): Promise<void> {
  const { by, json, csv } = flags;
  if (json && csv) throw usageError('--json and --csv: choose one of them');
  const options = await optionsFor(flags);
  const since = firstDay(flags.since, options.clock.now());
  const ledger = await openExisting(options);
  if (ledger === undefined && !json && !csv) {
    await print(noLedger(options));
    return;
  }
  const read = (opened: Ledger) => costsOf(opened, by, since, csv ? ['lane'] : []);
  const costs = ledger ? await withLedger(ledger, read) : nothing;
  if (csv) {
    await writeTo(process.stdout, costCsv(costs.rows, [...costGroups[by], 'lane']));
  } else if (json) {
    const { rows, lanes, total, underWay } = costs;
    await printJson({
      store: shownStore(options.store),
      since,
      by,
      rows: rows.map(costJson),
      lanes: lanes.map(costJson),
      total: total ? costJson(total) : null,
      underWay,
    });
  } else await print(textOf(costs, by, since));
}

/** The first day of the table: an age counts from now, and includes the day that it reaches. */
function firstDay(text: string, now: number): string {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) {
    const age = { ...duration(0), allowed: 'an age such as 7d, or a day such as 2026-11-01' };
    return firstDayOf(readFlag('--since', text, age), now);
  }
  const moment = Date.parse(text);
  // 31 February is read as a day of March.
  if (Number.isNaN(moment) || dayOf(moment) !== text)
    throw usageError(`--since names a day that there is not: ${text}`);
  return text;
}

const nothing: Costs = {
  rows: [],
  lanes: [],
  total: undefined,
  unpriced: [],
  underWay: { batches: 0, estimate: 0 },
};

async function costsOf(
  ledger: Ledger,
  by: CostGroup,
  since: string,
  more: CostQuery['by'],
): Promise<Costs> {
  const read = (dimensions: CostQuery['by']) => ledger.costs({ by: dimensions, since });
  const rows = await read([...costGroups[by], ...more]);
  const lanes = await read(['lane']);
  const [total] = await read([]);
  const models = await read(['provider', 'model']);
  const open = await ledger.list({ open: true });
  const estimates = open.map((batch) => batch.cost?.estimate ?? 0);
  return {
    rows,
    lanes,
    total,
    unpriced: models.filter(({ unpriced }) => unpriced > 0),
    underWay: { batches: open.length, estimate: estimates.reduce((sum, one) => sum + one, 0) },
  };
}

function textOf({ rows, lanes, total, unpriced, underWay }: Costs, by: CostGroup, since: string) {
  const lines: string[] = [];
  if (total) {
    lines.push(...costTable(rows, by, costGroups[by], columns()), '');
    if (lanes.length > 1) lines.push(...costTable(lanes, 'lane', ['lane'], columns()), '');
    lines.push(totalLine(total, since));
    const { estimate, estimated } = total;
    if (estimate > 0) {
      lines.push(`Batches: expected at most ${dollars(estimate)}, paid ${dollars(estimated)}.`);
    }
  } else lines.push(`No call has been answered since ${since} (UTC).`);
  if (unpriced.length > 0) lines.push(unpricedLine(unpriced));
  if (underWay.batches > 0) {
    const batches = counted(underWay.batches, 'batch', 'batches');
    const most = underWay.estimate > 0 ? `: at most ${dollars(underWay.estimate)}` : '';
    lines.push(`Under way: ${batches}${most}.`);
  }
  return lines;
}

function totalLine(total: CostRow, since: string): string {
  const calls = `${counted(total.calls, 'call')} since ${since} (UTC)`;
  if (isUnknown(total)) return `${calls}.`;
  const { paid, saved } = total;
  const share = saved > 0 ? ` (${Math.round((100 * saved) / (paid + saved))} %)` : '';
  return `Saved ${dollars(saved)}${share}, paid ${dollars(paid)}: ${calls}.`;
}

function unpricedLine(models: readonly CostRow[]): string {
  const calls = models.reduce((sum, { unpriced }) => sum + unpriced, 0);
  const names = models.map(({ provider, model }) => `${provider} ${model}`);
  const shown = names.length > 3 ? [...names.slice(0, 3), '…'] : names;
  return (
    `Price unknown: ${counted(calls, 'call')} (${shown.join(', ')}), not in these dollars. ` +
    'The option providers takes prices.'
  );
}
