import type { BatchlingEventName } from '../../orchestrator/events/events.ts';
import type { Notice } from '../../orchestrator/events/notices.ts';
import { emptyStats, type Stats } from '../../orchestrator/model/stats.ts';
import { readDryRun } from './read-dry-run.ts';
import type { RunMessage } from './run-message.ts';

type Fields = Record<string, unknown>;
/** The fields that a display reads. Others may be there. */
type Shape = Readonly<Record<string, 'string' | 'number'>>;

/** Longer texts are cut. */
const mostText = 2_000;
/** Longer lists, and objects with more fields, are cut. */
const mostItems = 10_000;

const call: Shape = { provider: 'string', endpoint: 'string', model: 'string' };
const batch: Shape = { ...call, batch: 'string', count: 'number' };

const eventShapes: Readonly<Record<BatchlingEventName, Shape>> = {
  'call:captured': call,
  'call:answered': { ...call, status: 'number', source: 'string' },
  'call:bypassed': { url: 'string', reason: 'string' },
  'queue:flushed': { ...call, count: 'number', reason: 'string' },
  'batch:submitting': batch,
  'batch:submitted': batch,
  'batch:polled': { ...batch, status: 'string' },
  'batch:ended': { ...batch, status: 'string' },
  'batch:collected': { ...batch, answered: 'number', failed: 'number' },
  'batch:resent': { ...batch, reason: 'string' },
  'request:retried': { ...call, attempt: 'number', reason: 'string' },
};

const noticeShapes: Readonly<Record<Notice['notice'], Shape>> = {
  trouble: { id: 'string', text: 'string' },
  over: { id: 'string' },
  rejoined: { ...batch, age: 'number' },
  'gave-up': batch,
  elsewhere: { count: 'number' },
  'no-ledger': {},
  hint: { text: 'string' },
};

const readers: Readonly<Record<RunMessage['kind'], (fields: Fields) => object | undefined>> = {
  open: (fields) => checked(fields, { store: 'string', completionWindow: 'number' }),
  event: (fields) => checkedIn(fields, 'event', eventShapes, fields.name),
  notice: (fields) => {
    const kind = (fields.notice as Fields | null)?.notice;
    return checkedIn(fields, 'notice', noticeShapes, kind);
  },
  counts: ({ stats, queues, batches }) => ({
    stats: readStats(stats),
    queues: list(queues, {
      ...{ provider: 'string', model: 'string', captured: 'number', good: 'number' },
      ...{ failed: 'number', batched: 'number' },
    }),
    batches: list(batches, { batch: 'string', good: 'number', failed: 'number' }),
  }),
  typical: ({ times }) => ({
    times: list(times, { provider: 'string', model: 'string', duration: 'number' }),
  }),
  closed: (fields) => {
    const known = checked(fields, { time: 'number' });
    return known && { ...known, stats: readStats(fields.stats) };
  },
  idle: () => ({}),
  detached: (fields) => checked(fields, { calls: 'number', batches: 'number' }),
  left: ({ lines }) => ({
    lines: Array.isArray(lines)
      ? lines.slice(0, mostItems).map((line) => String(line).slice(0, mostText))
      : [],
  }),
  'dry-run': (fields) => {
    const known = checked(fields, { scope: 'number' });
    return known && { ...known, summary: readDryRun(fields.summary) };
  },
};

/** The message of one line; `undefined` for a line that is none. Nothing of it is trusted. */
export function readMessage(line: string): RunMessage | undefined {
  const fields = parse(line);
  const kind = fields?.kind;
  if (fields === undefined || typeof kind !== 'string') return undefined;
  if (!Object.hasOwn(readers, kind)) return undefined;
  const read = readers[kind as RunMessage['kind']](fields);
  return read && ({ ...read, kind } as RunMessage);
}

function parse(line: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

/** A message whose main field has one of several shapes. */
function checkedIn(
  fields: Fields,
  name: 'event' | 'notice',
  shapes: Readonly<Record<string, Shape>>,
  kind: unknown,
): Fields | undefined {
  if (typeof kind !== 'string' || !Object.hasOwn(shapes, kind)) return undefined;
  const inner = checked(fields[name], shapes[kind] as Shape);
  const outer = checked(fields, { time: 'number' });
  return inner && outer && { ...outer, [name]: inner };
}

/** The value with its texts cut, if it has the fields of the shape. */
function checked(value: unknown, shape: Shape): Fields | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = Object.fromEntries(
    Object.entries(value)
      .slice(0, mostItems)
      .map(([name, inner]) => [name, typeof inner === 'string' ? inner.slice(0, mostText) : inner]),
  );
  const isRight = Object.entries(shape).every(([name, type]) => {
    const field = fields[name];
    return type === 'number' ? Number.isFinite(field) : typeof field === 'string';
  });
  return isRight ? fields : undefined;
}

function list(value: unknown, shape: Shape): Fields[] {
  if (!Array.isArray(value)) return [];
  const items = value.slice(0, mostItems).map((item: unknown) => checked(item, shape));
  return items.filter((item) => item !== undefined);
}

/** Missing numbers are 0. */
function readStats(value: unknown): Stats {
  return numbersLike(emptyStats() as unknown as Fields, value) as unknown as Stats;
}

function numbersLike(known: Fields, value: unknown): Fields {
  const given = (typeof value === 'object' && value !== null ? value : {}) as Fields;
  // An empty object stands for a tally, whose names are free.
  const isTally = Object.keys(known).length === 0;
  const names = isTally ? Object.keys(given).slice(0, 50) : Object.keys(known);
  const read = names.map((name) => {
    const [before, field] = [known[name], given[name]];
    if (typeof before === 'object') return [name, numbersLike(before as Fields, field)];
    return [isTally ? name.slice(0, mostText) : name, Number.isFinite(field) ? field : 0];
  });
  return Object.fromEntries(read);
}
