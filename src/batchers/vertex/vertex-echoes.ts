import { createHash } from 'node:crypto';
import { field, fields, parseJson, text } from '../../base/json.ts';
import type { ItemId } from '../../base/types.ts';
import { splitLines } from '../../http/jsonl.ts';
import type { Wire } from '../../http/wire.ts';
import type { Row } from '../batcher.ts';
import { expectOk, isGone } from '../shared/replies.ts';
import { judgeVertex } from './vertex-judge.ts';
import { labelName } from './vertex-labels.ts';
import { objectUrl, readGsUri } from './vertex-storage.ts';

/** No id that the engine makes begins with this. */
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

type NamedRow = Extract<Row, { id: ItemId }>;

/** The ids of identical requests: one list for all of them, by what they ask and by each of the ids. */
interface InputIds {
  readonly byEcho: Map<string, ItemId[]>;
  readonly byId: Map<ItemId, ItemId[]>;
}

/**
 * Finds ids of rows by the requests that they echo. The input is read for it once, and only if there is
 * such a row. Rows of identical requests are interchangeable: each takes one of their ids. Where only some
 * rows show their ids, a row may have been given an id that another one shows later; that one then takes
 * another id of the same request, so that no answer is lost.
 */
export class Echoes {
  readonly #wire: Wire;
  readonly #input: string | undefined;
  #ids: Promise<InputIds> | undefined;
  /** Ids that rows have shown themselves. */
  readonly #shown = new Set<ItemId>();
  /** Ids that were given to rows, and that no row has shown since. */
  readonly #given = new Set<ItemId>();

  constructor(wire: Wire, input: string | undefined) {
    this.#wire = wire;
    this.#input = input;
  }

  /** The rows with their ids; one whose request was never sent is broken. */
  async name(rows: readonly Row[]): Promise<readonly Row[]> {
    if (rows.some(isUnnamed)) this.#ids ??= this.#read();
    const ids = await this.#ids;
    return rows.map((row) => {
      if (!('id' in row)) return row;
      return isUnnamed(row) ? this.#give(row, ids) : this.#note(row, ids);
    });
  }

  #give(row: NamedRow, ids: InputIds | undefined): Row {
    const id = this.#nextFree(ids?.byEcho.get(row.id.slice(mark.length)));
    if (id === undefined) return { broken: 'a row with neither an id nor a known request' };
    this.#given.add(id);
    return { ...row, id };
  }

  #note(row: NamedRow, ids: InputIds | undefined): Row {
    this.#shown.add(row.id);
    if (!this.#given.delete(row.id)) return row;
    const id = this.#nextFree(ids?.byId.get(row.id));
    if (id === undefined) return row;
    this.#given.add(id);
    return { ...row, id };
  }

  /** The next of these ids that belongs to no row. Ids that were given out are no longer among them. */
  #nextFree(same: ItemId[] = []): ItemId | undefined {
    for (;;) {
      const id = same.shift();
      if (id === undefined || !this.#shown.has(id)) return id;
    }
  }

  async #read(): Promise<InputIds> {
    const ids: InputIds = { byEcho: new Map(), byId: new Map() };
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
      // These rows stay without an id when the input cannot be read.
      if (isGone(error)) return ids;
      throw error;
    }
  }
}

function addLine({ byEcho, byId }: InputIds, line: unknown): void {
  const id = text(field(line, 'key')) ?? text(field(line, 'custom_id'));
  if (id === undefined) return;
  const echo = echoOf(field(line, 'request'));
  const same = byEcho.get(echo) ?? [];
  same.push(id);
  byEcho.set(echo, same);
  byId.set(id, same);
}

function isUnnamed(row: Row): row is NamedRow {
  return 'id' in row && row.id.startsWith(mark);
}
