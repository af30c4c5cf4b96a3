import { createHash } from 'node:crypto';
import { splitLines } from '../../http/jsonl.ts';
import type { Wire } from '../../http/wire.ts';
import type { ItemId } from '../../types.ts';
import type { Row } from '../batcher.ts';
import { field, fields, parseJson, text } from '../shared/outcomes.ts';
import { expectOk, ReplyError } from '../shared/replies.ts';
import { judgeVertex } from './vertex-judge.ts';
import { labelName } from './vertex-labels.ts';
import { objectUrl, readGsUri } from './vertex-storage.ts';

/** No id of the engine's begins so. */
const mark = 'unnamed ';

/** Stands in a row whose id is yet to be found by the request that it echoes. */
export function unnamed(echo: string): ItemId {
  return `${mark}${echo}`;
}

/**
 * The same text for the same request, however it is written: the order of members and the spelling of
 * numbers may change on the way through Vertex. Our label is no part of it.
 */
export function echoOf(request: unknown): string {
  const { labels, ...others } = fields(request);
  const { [labelName]: _ours, ...own } = fields(labels);
  const compared = Object.keys(own).length > 0 ? { ...others, labels: own } : others;
  return createHash('sha256')
    .update(JSON.stringify(sorted(compared)))
    .digest('base64url');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([name, inner]) => [name, sorted(inner)]);
}

/**
 * Finds ids of rows by the requests that they echo. The input is read for it once, and only if there is
 * such a row. Rows of identical requests are interchangeable: each takes one of their ids.
 */
export class Echoes {
  readonly #wire: Wire;
  readonly #input: string | undefined;
  #ids: Promise<Map<string, ItemId[]>> | undefined;

  constructor(wire: Wire, input: string | undefined) {
    this.#wire = wire;
    this.#input = input;
  }

  /** The rows with their ids; one whose request was never sent is broken. */
  async name(rows: readonly Row[]): Promise<readonly Row[]> {
    if (!rows.some(isUnnamed)) return rows;
    this.#ids ??= this.#read();
    const ids = await this.#ids;
    return rows.map((row) => {
      if (!isUnnamed(row)) return row;
      const id = ids.get(row.id.slice(mark.length))?.shift();
      return id === undefined
        ? { broken: 'a row with neither an id nor a known request' }
        : { ...row, id };
    });
  }

  async #read(): Promise<Map<string, ItemId[]>> {
    const ids = new Map<string, ItemId[]>();
    const object = readGsUri(this.#input);
    if (object === undefined) return ids;
    try {
      const path = `${objectUrl(this.#wire, object)}?alt=media`;
      const reply = await expectOk(this.#wire, { method: 'GET', path }, judgeVertex);
      for await (const group of splitLines(reply.bytes())) {
        for (const line of group) addLine(ids, parseJson(line.toString()));
      }
      return ids;
    } catch (error) {
      // Without the input such rows stay without an id.
      if (error instanceof ReplyError && error.failure.meaning === 'gone') return ids;
      throw error;
    }
  }
}

function addLine(ids: Map<string, ItemId[]>, line: unknown): void {
  const id = text(field(line, 'key')) ?? text(field(line, 'custom_id'));
  if (id === undefined) return;
  const echo = echoOf(field(line, 'request'));
  const same = ids.get(echo);
  if (same === undefined) ids.set(echo, [id]);
  else same.push(id);
}

function isUnnamed(row: Row): row is Extract<Row, { id: ItemId }> {
  return 'id' in row && row.id.startsWith(mark);
}
