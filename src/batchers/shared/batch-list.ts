import { UnknownOutcomeError } from '../../errors.ts';
import type { Wire } from '../../http/wire.ts';
import type { Dict } from '../../types.ts';
import type { PolledBatch, Remote } from '../batcher.ts';
import type { ReplyJudge } from './judge-reply.ts';
import { field, text } from './outcomes.ts';
import { expectOk, ReplyError } from './replies.ts';
import { type ListPage, listPage } from './reply-shapes.ts';

const pageSize = 100;
/** No account has as many batches as fit on these; a list that goes on has lost its way. */
const mostPages = 500;

/**
 * Where and how a provider shows the batches of an account.
 *
 * @example
 * const list: BatchList = {
 *   path: '/batch/jobs',
 *   limit: 'page_size',
 *   after: 'page',
 *   readPage: (body, page = '0') => ({
 *     ...listPage(body),
 *     next: listPage(body).batches.length < 100 ? undefined : String(Number(page) + 1),
 *   }),
 *   toRemote,
 * };
 */
export interface BatchList {
  /** Of the list; the id of a batch is appended for that batch alone. */
  readonly path: string;
  /** It comes as a whole: there are no pages to ask for. */
  readonly isWhole?: true;
  /** The query parameter for how many batches a page holds. Missing: `limit`. */
  readonly limit?: string;
  /** The query parameter for where the next page begins. */
  readonly after: string;
  /** The field of a batch that holds its id. Missing: `id`. */
  readonly id?: string;
  readonly headers?: Dict;
  /** What failed replies mean. Missing: by their status. */
  readonly judge?: ReplyJudge;
  /**
   * The batches of one page, and where the next one begins; `after` is where this one began. What is no
   * page throws `UnknownOutcomeError`. Missing: `data`, `has_more` and the last id.
   */
  readPage?(body: unknown, after: string | undefined): ListPage;
  /** The provider's batch object in our words. What it tells people is redacted. */
  toRemote(batch: unknown, wire: Pick<Wire, 'redact'>): Remote;
}

/**
 * The batch objects of an account, page by page. Read to the end, it has shown all of them: a page
 * that is not understood, or a list without an end, throws instead.
 */
export async function* batchPages(
  wire: Wire,
  list: BatchList,
  size = pageSize,
): AsyncIterable<readonly unknown[]> {
  const { path: at, isWhole, limit = 'limit', after, headers = {}, judge } = list;
  const readPage = list.readPage ?? listPage;
  let previous: string | undefined;
  for (let page = 1; page <= mostPages; page += 1) {
    const from = previous === undefined ? '' : `&${after}=${encodeURIComponent(previous)}`;
    const path = isWhole ? at : `${at}?${limit}=${size}${from}`;
    const request = { method: 'GET', path, headers } as const;
    const reply = await expectOk(wire, request, judge);
    const { batches, next } = readPage(await reply.json(), previous);
    yield batches;
    if (next === undefined) return;
    if (next === previous) break;
    previous = next;
  }
  throw new UnknownOutcomeError(`The list of batches at ${at} does not come to an end.`);
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
        const id = text(field(batch, list.id ?? 'id'));
        if (id !== undefined && open.delete(id)) yield list.toRemote(batch, wire);
      }
      left -= 1;
      if (open.size === 0 || left === 0) break;
    }
  }
  for (const id of open) yield await pollOne(wire, list, id);
}

async function pollOne(wire: Wire, list: BatchList, id: string): Promise<Remote> {
  const { headers = {}, judge } = list;
  try {
    const path = `${list.path}/${encodeURIComponent(id)}`;
    const reply = await expectOk(wire, { method: 'GET', path, headers }, judge);
    const remote = list.toRemote(await reply.json(), wire);
    if (remote.id === id) return remote;
    throw new UnknownOutcomeError(`The provider was asked for batch ${id} and sent ${remote.id}.`);
  } catch (error) {
    if (error instanceof ReplyError && error.failure.meaning === 'gone') {
      const raw = String(error.status);
      return { id, state: 'missing', raw, readable: false, sources: {} };
    }
    throw error;
  }
}
