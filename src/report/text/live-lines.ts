import type { Stats } from '../../orchestrator/model/stats.ts';
import type { CallCounts } from '../call-counts.ts';
import type { ProgressState } from '../progress-state.ts';
import { truncated, widthOf } from '../terminal/terminal.ts';
import { type QueueRow, queueRows } from './queue-rows.ts';
import { ageText, dollars, number } from './summary.ts';

/** Further models and troubles are not shown. */
const mostRows = 6;
const mostTroubles = 2;
/** A model's name gets at least this many columns; gaps are narrowed only where it would get fewer than `niceName`. */
const narrowestName = 10;
const niceName = 17;

/** A scope, or a process of a run, whose calls are counted. */
export interface CountedCalls {
  readonly stats: Stats;
  readonly calls: CallCounts;
  readonly since: number;
}

/** How long batches of a row usually take, in milliseconds. */
export type Usual = ReadonlyMap<string, number>;

/** The live block: the sum of all calls, a table of models, and current troubles. */
export function liveLines(
  state: ProgressState,
  counted: readonly CountedCalls[],
  usual: Usual,
  now: number,
  columns: number,
): string[] {
  const counts = counted.map(({ calls }) => calls);
  const rows = queueRows(state, counts, now);
  if (rows.length === 0) return [];
  const hidden = rows.length - mostRows;
  const texts = new Set([...state.troubles.values()].map(({ text }) => text));
  return [
    totalLine(counted, now),
    ...table(byInterest(rows).slice(0, mostRows), usual, now, columns),
    ...(hidden > 0 ? [`and ${number(hidden)} more ${hidden === 1 ? 'model' : 'models'}`] : []),
    ...[...texts].slice(-mostTroubles),
  ];
}

function totalLine(counted: readonly CountedCalls[], now: number): string {
  const total = { captured: 0, answered: 0, failed: 0, paid: 0, saved: 0 };
  let since = now;
  for (const { stats, since: from } of counted) {
    total.captured += stats.captured;
    total.answered += stats.answered;
    total.failed += stats.failed;
    total.paid += stats.dollars.paid;
    total.saved += stats.dollars.saved;
    since = Math.min(since, from);
  }
  const { captured, answered, failed, paid, saved } = total;
  const money = paid > 0 ? `, paid ${dollars(paid)}, saved ${dollars(saved)}` : '';
  const errors = failed > 0 ? `, ${number(failed)} failed` : '';
  const calls = `${number(answered - failed)} of ${number(captured)} calls answered${errors}`;
  return `${calls}, ${ageText(now - since)}${money}`;
}

/** Models that are done are the first to be hidden. */
function byInterest(rows: readonly QueueRow[]): QueueRow[] {
  if (rows.length <= mostRows) return [...rows];
  const isDone = ({ state }: QueueRow) => Number(state === 'done');
  return [...rows].sort((one, other) => isDone(one) - isDone(other));
}

const head = ['', 'queued', 'sent', 'done', 'failed', 'age', ''] as const;

/** Numbers are aligned; names are cut so that the states fit. */
function table(rows: readonly QueueRow[], usual: Usual, now: number, columns: number): string[] {
  const cells = [
    [...head],
    ...rows.map((row) => [
      row.name,
      number(row.queued),
      number(row.sent),
      row.done === undefined ? '-' : number(row.done),
      number(row.failed),
      row.since === undefined ? '' : ageText(now - row.since),
      stateText(row, usual.get(row.name)),
    ]),
  ];
  const widths = head.map((_, at) => Math.max(...cells.map((row) => widthOf(row[at] as string))));
  const others = widths.slice(1).reduce((sum, width) => sum + width, 0);
  const wanted = Math.min(niceName, widths[0] as number);
  const gap = columns - others - 2 * (head.length - 1) >= wanted ? '  ' : ' ';
  const room = Math.max(narrowestName, columns - others - gap.length * (head.length - 1));
  const nameWidth = Math.min(widths[0] as number, room);
  return cells.map(([name = '', ...rest]) => {
    const texts = rest.map((text, at) =>
      at === rest.length - 1 ? text : text.padStart(widths[at + 1] as number),
    );
    return [padded(truncated(name, nameWidth), nameWidth), ...texts].join(gap).trimEnd();
  });
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

function stateText({ state, left }: QueueRow, usual: number | undefined): string {
  switch (state) {
    case 'running':
      if (left !== undefined) return `running, ${ageText(left)} left`;
      return usual === undefined ? 'running' : `running, usually ${ageText(usual)}`;
    case 'silent':
      return usual === undefined
        ? 'counts at the end only'
        : `usually ${ageText(usual)}, no counts`;
    case 'finalizing':
      return 'finalizing';
    case 'reading':
      return 'reading answers';
    case 'uploading':
      return 'uploading';
    case 'quota':
      return 'waiting for quota';
    case 'slot':
      return 'waiting for a slot';
    case 'collecting':
      return 'collecting calls';
    case 'done':
      return 'done';
  }
}
