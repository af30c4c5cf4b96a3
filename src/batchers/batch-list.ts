import type { Wire } from '../http/wire.ts';
import type { Dict } from '../types.ts';
import type { Remote } from './batcher.ts';
import { field, text } from './outcomes.ts';
import { expectOk, ReplyError } from './replies.ts';

const pageSize = 100;
/** An account may have thousands of batches; who looks for one of today need not read them all. */
const mostPages = 50;

/** Where a provider shows the batches of an account, newest first. */
export interface BatchList {
  /** Of the list; the id of a batch is appended for that batch alone. */
  readonly path: string;
  /** The query parameter for the id after which the next page begins. */
  readonly after: string;
  readonly headers?: Dict;
  /** The provider's batch object in our words. What it tells people is redacted. */
  toRemote(batch: unknown, wire: Pick<Wire, 'redact'>): Remote;
}

/** The batch objects of an account, page by page. */
export async function* batchPages(
  wire: Wire,
  { path, after, headers = {} }: BatchList,
): AsyncIterable<readonly unknown[]> {
  let query = `?limit=${pageSize}`;
  let previous: string | undefined;
  for (let page = 1; page <= mostPages; page += 1) {
    const reply = await expectOk(wire, { method: 'GET', path: `${path}${query}`, headers });
    const body = await reply.json();
    const data = field(body, 'data');
    if (!Array.isArray(data) || data.length === 0) return;
    yield data;
    const last = text(field(data.at(-1), 'id'));
    if (field(body, 'has_more') !== true || last === undefined || last === previous) return;
    query = `?limit=${pageSize}&${after}=${encodeURIComponent(last)}`;
    previous = last;
  }
}

/**
 * The state of these batches. A list costs as much as a GET, so it pays from the third batch on.
 * Foreign batches fill pages too: after ceil(ids / 100) + 2 of them the rest is asked one by one.
 */
export async function* pollBatches(
  wire: Wire,
  list: BatchList,
  ids: readonly string[],
): AsyncIterable<Remote> {
  const open = new Set(ids);
  if (ids.length > 2) {
    let left = Math.ceil(ids.length / pageSize) + 2;
    for await (const page of batchPages(wire, list)) {
      for (const batch of page) {
        const id = text(field(batch, 'id'));
        if (id !== undefined && open.delete(id)) yield list.toRemote(batch, wire);
      }
      left -= 1;
      if (open.size === 0 || left === 0) break;
    }
  }
  for (const id of open) yield await pollOne(wire, list, id);
}

async function pollOne(wire: Wire, list: BatchList, id: string): Promise<Remote> {
  const { headers = {} } = list;
  try {
    const path = `${list.path}/${encodeURIComponent(id)}`;
    const reply = await expectOk(wire, { method: 'GET', path, headers });
    return list.toRemote(await reply.json(), wire);
  } catch (error) {
    if (error instanceof ReplyError && error.status === 404) {
      return { id, state: 'missing', raw: '404', readable: false, sources: {} };
    }
    throw error;
  }
}
