import type { BatchSummary } from '../../ledger.ts';
import type { BatchPage, BatchQuery } from '../../view.ts';
import { type SummaryRow, selectSummaries, summarise } from '../batch-summary.ts';
import { BATCH } from '../codes.ts';
import type { SqlReader, SqlValue } from './sql-view.ts';
import { walkDown } from './windows.ts';

type Row = SummaryRow & { readonly id: number };

interface Condition {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  /** An index holds the batches that fit, and perhaps some more, but few of all. */
  readonly isIndexed: boolean;
}

/** A filter that hardly anything fits looks at as many batches as this many milliseconds allow, then at the next page. */
const patience = 250;

export async function readBatches(reader: SqlReader, query: BatchQuery): Promise<BatchPage> {
  const condition = await conditionOf(reader, query);
  if (condition === undefined) return { batches: [] };
  const rows: Row[] = [];
  const before = query.before ?? (await newest(reader)) + 1;
  if (condition.isIndexed) {
    // The plus keeps the database from walking down all batches for their order.
    const sql = `${select} WHERE +batch.id < ? AND ${condition.sql} ORDER BY +batch.id DESC LIMIT ?`;
    rows.push(...(await reader.rows<Row>(sql, [before, ...condition.values, query.limit])));
    const next = rows.length >= query.limit ? rows.at(-1)?.id : undefined;
    return { batches: fitting(rows, query), ...(next !== undefined && { next }) };
  }
  const end = await walkDown(before, patience, async ([from, to]) => {
    const sql = `${select} WHERE batch.id >= ? AND batch.id < ? AND ${condition.sql}
      ORDER BY batch.id DESC LIMIT ?`;
    const values = [from, to, ...condition.values, query.limit - rows.length];
    rows.push(...(await reader.rows<Row>(sql, values)));
    return rows.length >= query.limit;
  });
  const next = rows.length >= query.limit ? (rows.at(-1) as Row).id : end;
  return { batches: fitting(rows, query), ...(next > 1 && { next }) };
}

/** Databases differ in which letters they know in both cases; what they have found is looked at once more here. */
function fitting(rows: readonly Row[], { name = '', tag }: BatchQuery): BatchSummary[] {
  return rows
    .map(summarise)
    .filter(
      (batch) =>
        (batch.name ?? '').toLowerCase().includes(name.toLowerCase()) &&
        (tag === undefined || batch.tags[tag.key] === tag.value),
    );
}

const select = selectSummaries('answered');

async function newest(reader: SqlReader): Promise<number> {
  const [row] = await reader.rows<{ id: number | null }>('SELECT max(id) AS id FROM batch');
  return row?.id ?? 0;
}

/** `undefined`: nothing fits. */
async function conditionOf(
  reader: SqlReader,
  { states, provider, model, name, tag, failed }: BatchQuery,
): Promise<Condition | undefined> {
  const parts = [`state <> ${BATCH.planning}`];
  const values: SqlValue[] = [];
  if (states) parts.push(`state IN (${states.map((state) => BATCH[state]).join() || 'NULL'})`);
  if (provider !== undefined || model !== undefined) {
    const queues = await reader.rows<{ id: number }>(
      'SELECT id FROM queue WHERE provider = coalesce(?, provider) AND model = coalesce(?, model)',
      [provider ?? null, model ?? null],
    );
    if (queues.length === 0) return undefined;
    // Named by their ids, so that the index of queues serves each window.
    parts.push(`queue IN (${queues.map(({ id }) => id).join()})`);
  }
  if (name !== undefined) {
    parts.push(`lower(name) LIKE ? ESCAPE '\\'`);
    values.push(`%${escaped(name.toLowerCase()).replace(/[^\0-\x7f]+/g, '%')}%`);
  }
  if (tag) {
    parts.push(`tags LIKE ? ESCAPE '\\'`);
    const pair = JSON.stringify({ [tag.key]: tag.value }).slice(1, -1);
    values.push(`%${escaped(pair)}%`);
  }
  if (failed) parts.push('failure IS NOT NULL');
  const isOpen = states?.every((state) => BATCH[state] < BATCH.ended) ?? false;
  if (isOpen) parts.push(`state < ${BATCH.ended}`);
  return { sql: parts.join(' AND '), values, isIndexed: isOpen || failed === true };
}

function escaped(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
