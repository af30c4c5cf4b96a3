import type { Stats } from '../../orchestrator/model/stats.ts';
import type { CallCounts } from '../call-counts.ts';
import type { ProgressState } from '../progress-state.ts';
import { bar } from '../terminal/bar.ts';
import { labelColumns } from '../terminal/line-output.ts';
import { truncated, widthOf } from '../terminal/terminal.ts';
import { slowWords } from './event-lines.ts';
import { type QueueRow, queueRows } from './queue-rows.ts';
import { ageText, dollars, number } from './summary.ts';

/** Further models and troubles are not shown. */
const mostRows = 6;
const mostTroubles = 2;
const widestName = 24;
const narrowestName = 8;
const widestBar = 24;
const narrowestBar = 8;
const niceBar = 12;
/** So that the columns stay where they are while states change. */
const usualState = 'waiting for quota'.length;

const second = 1_000;

/** A scope, or a process of a run, whose calls are counted. */
export interface CountedCalls {
  readonly stats: Stats;
  readonly calls: CallCounts;
  readonly since: number;
}

/** How long batches of a row usually take, in milliseconds. */
export type Usual = ReadonlyMap<string, number>;

/** The live block: how far, how long, how much is saved; a bar for each model; and what is in the way. */
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
    totalLine(rows, counted, timeLeft(rows, usual, now), now, columns - labelColumns),
    ...table(byInterest(rows).slice(0, mostRows), usual, now, columns),
    ...(hidden > 0 ? [`and ${number(hidden)} more ${hidden === 1 ? 'model' : 'models'}`] : []),
    ...[...texts].slice(-mostTroubles).map((text) => `! ${text}`),
  ];
}

/** The longest of the form that fits. */
function totalLine(
  rows: readonly QueueRow[],
  counted: readonly CountedCalls[],
  left: number | undefined,
  now: number,
  columns: number,
): string {
  const sum = (of: (row: QueueRow) => number) => rows.reduce((total, row) => total + of(row), 0);
  const failed = sum((row) => row.failed);
  const saved = counted.reduce((total, { stats }) => total + stats.dollars.saved, 0);
  const since = Math.min(now, ...counted.map(({ since: from }) => from));
  const done = number(sum((row) => row.done ?? 0));
  const total = number(sum((row) => row.total));
  const far = `${done} of ${total} done`;
  const errors = failed > 0 ? `, ${number(failed)} failed` : '';
  const rest = left === undefined ? '' : `, ${leftText(left)}`;
  const money = saved > 0 ? `, saved ${dollars(saved)}` : '';
  const age = `, ${ageText(now - since)}`;
  const lines = [
    `${far}${errors}${age}${rest}${money}`,
    `${far}${errors}${rest || age}${money}`,
    `${far}${rest || age}${money}`,
    `${done}/${total}${rest || age}${money}`,
    `${done}/${total}${money}`,
    `${done}/${total}`,
  ];
  return lines.find((line) => widthOf(line) <= columns) ?? (lines.at(-1) as string);
}

/** Until everything that is under way has ended; `undefined` where that is not known. */
function timeLeft(rows: readonly QueueRow[], usual: Usual, now: number): number | undefined {
  const open = rows.filter(({ state }) => state !== 'done');
  const times = open.map(({ name, left, since = now }) => {
    const usually = usual.get(name);
    return left ?? (usually === undefined ? Number.NaN : Math.max(0, usually - (now - since)));
  });
  const longest = Math.max(...times);
  return Number.isFinite(longest) ? longest : undefined;
}

/** Models that are done are the first to be hidden. */
function byInterest(rows: readonly QueueRow[]): QueueRow[] {
  if (rows.length <= mostRows) return [...rows];
  const isDone = ({ state }: QueueRow) => Number(state === 'done');
  return [...rows].sort((one, other) => isDone(one) - isDone(other));
}

interface TableForm {
  readonly gap: string;
  readonly of: string;
  /** With the shape that failures have in the bar, instead of the word. */
  readonly failedShape?: true;
  readonly shortStates?: true;
  /** The columns that the bar has at least; 0: there is none. */
  readonly bar: number;
  /** The columns that states have at least. */
  readonly states: number;
}

const narrow = { gap: ' ', of: '/', failedShape: true, bar: narrowestBar, states: 0 } as const;
/** Where it is narrow the bar gives way first, then the name, then words, and last the whole bar. */
const forms: readonly TableForm[] = [
  { gap: '  ', of: ' of ', bar: niceBar, states: usualState },
  narrow,
  { ...narrow, shortStates: true },
  { ...narrow, shortStates: true, bar: 0 },
];

/** Name, bar, numbers and state, aligned, in the first form that fits. */
function table(rows: readonly QueueRow[], usual: Usual, now: number, columns: number): string[] {
  const possible = columns < 60 ? forms.slice(1) : forms;
  let lines: string[] = [];
  for (const form of possible) {
    lines = tableIn(form, rows, usual, now, columns);
    if (lines.every((line) => widthOf(line) <= columns)) break;
  }
  return lines;
}

function tableIn(
  form: TableForm,
  rows: readonly QueueRow[],
  usual: Usual,
  now: number,
  columns: number,
): string[] {
  const { gap, of, failedShape = false, shortStates = false } = form;
  const texts = rows.map((row) => ({
    done: row.done === undefined ? '-' : number(row.done),
    total: number(row.total),
    failed: row.failed === 0 ? '' : `${number(row.failed)}${failedShape ? '×' : ' failed'}`,
    state: (shortStates ? shortStateText : stateText)(row, usual.get(row.name), now),
  }));
  const widest = (name: keyof (typeof texts)[0]) =>
    Math.max(...texts.map((text) => widthOf(text[name])));
  const failed = widest('failed');
  const digits = widest('total');
  const doneDigits = failedShape ? widest('done') : digits;
  const numbers = doneDigits + of.length + digits + (failed && failed + gap.length);
  const gaps = (form.bar > 0 ? 3 : 2) * gap.length;
  const room = columns - numbers - Math.max(form.states, widest('state')) - gaps;
  const most = Math.max(form.bar > 0 ? narrowestName : 1, room - form.bar);
  const names = namesOf(rows, Math.min(widestName, most));
  const nameWidth = Math.min(widestName, most, Math.max(...names.map(widthOf)));
  const barWidth = Math.min(widestBar, Math.max(narrowestBar, room - nameWidth));
  return rows.map((row, at) => {
    const { done, total, failed: errors, state } = texts[at] as (typeof texts)[0];
    const name = padded(shortened(names[at] as string, nameWidth), nameWidth);
    const shown = form.bar > 0 ? [bar(partsOf(row), barWidth)] : [];
    const far = `${done.padStart(doneDigits)}${of}${total.padStart(digits)}`;
    const cells = [name, ...shown, far, ...(failed > 0 ? [errors.padEnd(failed)] : []), state];
    return cells.join(gap).trimEnd();
  });
}

/** Without the provider where the whole name does not fit and all have the same one. */
function namesOf(rows: readonly QueueRow[], columns: number): string[] {
  const names = rows.map(({ name }) => name);
  const providers = new Set(names.map((name) => name.split(' ', 1)[0]));
  const fits = names.every((name) => widthOf(name) <= columns);
  return fits || providers.size > 1
    ? names
    : names.map((name) => name.slice(name.indexOf(' ') + 1));
}

/** Cut in the middle: models of a family differ at their ends. */
function shortened(name: string, columns: number): string {
  const isPlain = widthOf(name) === name.length;
  if (!isPlain || name.length <= columns) return truncated(name, columns);
  const head = Math.ceil((columns - 1) / 2);
  return `${name.slice(0, head)}…${name.slice(name.length - (columns - 1 - head))}`;
}

function partsOf({ total, done = 0, failed, queued }: QueueRow) {
  const running = Math.max(0, total - done - failed - queued);
  return { done, failed, running, waiting: queued };
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** The last second is shown until it is over: a text that comes and goes says less. */
function leftText(left: number): string {
  return `~${ageText(Math.max(left, second))} left`;
}

/** What the bar does not say. */
function stateText({ state, left, slow, since }: QueueRow, usual: number | undefined, now: number) {
  switch (state) {
    case 'running':
    case 'silent': {
      const word = slow === undefined ? '' : `${slowWords[slow]}, `;
      if (left !== undefined) return `${word}${leftText(left)}`;
      if (usual !== undefined) return `${word}usually ${ageText(usual)}`;
      const age = since === undefined ? '' : ` ${ageText(now - since)}`;
      if (slow !== undefined) return `${slowWords[slow]}${age}`;
      return state === 'silent' ? 'counts at the end' : `running${age}`;
    }
    case 'quota':
      return 'waiting for quota';
    case 'slot':
      return 'waiting for a slot';
    case 'collecting':
      return 'collecting calls';
    case 'calling':
      return 'one by one';
    case 'reading':
      return 'reading answers';
    default:
      return state;
  }
}

/** The same for a narrow terminal. Lines that stay have told the rest. */
function shortStateText(row: QueueRow, usual: number | undefined, now: number): string {
  const { state, left, slow } = row;
  if (state === 'quota' || state === 'slot') return state;
  if (state === 'collecting' || state === 'reading') return state;
  if (state !== 'running' && state !== 'silent') return stateText(row, usual, now);
  const time = left === undefined ? '' : `~${ageText(Math.max(left, second))}`;
  if (slow !== undefined) return `slow ${time}`.trimEnd();
  if (time !== '') return time;
  return state === 'silent' && usual === undefined ? 'no counts' : stateText(row, usual, now);
}
