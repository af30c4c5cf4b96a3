import { UnknownOutcomeError } from '../../errors.ts';
import type { Wire } from '../../http/wire.ts';
import type { Dict } from '../../types.ts';
import type { PolledBatch, Remote } from '../batcher.ts';
import { field, text } from './outcomes.ts';
import { expectOk, ReplyError } from './replies.ts';
import { listPage } from './reply-shapes.ts';

const pageSize = 100;
/** No account has as many batches as fit on these; a list that goes on has lost its way. */
const mostPages = 500;

/** Where a provider shows the batches of an account. */
export interface BatchList {
  /** Of the list; the id of a batch is appended for that batch alone. */
  readonly path: string;
  /** The query parameter for the id after which the next page begins. */
  readonly after: string;
  readonly headers?: Dict;
  /** The provider's batch object in our words. What it tells people is redacted. */
  toRemote(batch: unknown, wire: Pick<Wire, 'redact'>): Remote;
}

/**
 * The batch objects of an account, page by page. Whoever reads to the end has seen all of them: a page
 * that is not understood, or a list without an end, throws instead.
 */
export async function* batchPages(
  wire: Wire,
  { path, after, headers = {} }: BatchList,
  size = pageSize,
): AsyncIterable<readonly unknown[]> {
  let query = `?limit=${size}`;
  let previous: string | undefined;
  for (let page = 1; page <= mostPages; page += 1) {
    const reply = await expectOk(wire, { method: 'GET', path: `${path}${query}`, headers });
    const { batches, next } = listPage(await reply.json());
    yield batches;
    if (next === undefined) return;
    if (next === previous) break;
    query = `?limit=${size}&${after}=${encodeURIComponent(next)}`;
    previous = next;
  }
  throw new UnknownOutcomeError(`The list of batches at ${path} does not come to an end.`);
}

/**
 * The state of these batches. A list costs as much as a GET, so it pays from the third batch on.
 * Foreign batches fill pages too: after ceil(ids / 100) + 2 of them the rest is asked one by one.
 */
export async function* pollBatches(
  wire: Wire,
  list: BatchList,
  batches: readonly Pick<PolledBatch, 'id'>[],
): AsyncIterable<Remote> {
  const open = new Set(batches.map(({ id }) => id));
  if (open.size > 2) {
    let left = Math.ceil(open.size / pageSize) + 2;
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
    const remote = list.toRemote(await reply.json(), wire);
    if (remote.id === id) return remote;
    throw new UnknownOutcomeError(`The provider was asked for batch ${id} and sent ${remote.id}.`);
  } catch (error) {
    if (error instanceof ReplyError && error.failure.meaning === 'gone') {
      return { id, state: 'missing', raw: '404', readable: false, sources: {} };
    }
    throw error;
  }
}
