import { UnknownOutcomeError } from '../../base/errors.ts';
import { field, text } from '../../base/json.ts';
import type { Dict } from '../../base/types.ts';
import type { Wire, WireReply } from '../../http/wire.ts';
import type { Found, PolledBatch, Remote } from '../batcher.ts';
import type { ReplyJudge } from './judge-reply.ts';
import { expectOk, isGone } from './replies.ts';
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
  /** The path of the list. With the id of a batch behind it, it is the path of that batch. */
  readonly path: string;
  /** The query parameter for how many batches a page holds. Missing: `limit`; null: there is none. */
  readonly limit?: string | null;
  /** The query parameter for where the next page begins. */
  readonly after: string;
  /** What else the list is asked for: `{ search: 'nightly' }`. */
  readonly query?: Dict;
  /** The query parameter that names a batch to be shown, and how many may be named in one request. */
  readonly named?: { readonly parameter: string; readonly most: number };
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
  /** The batch in a reply that shows one alone. Missing: all of the reply, which is JSON. */
  readOne?(reply: WireReply): Promise<unknown>;
  /**
   * The provider's batch object in our words. What it tells people is redacted. `count`: how many requests
   * are in it, where that is known.
   */
  toRemote(batch: unknown, wire: Pick<Wire, 'redact'>, count?: number): Remote;
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
  const { path, limit = 'limit', after, query = {} } = list;
  const readPage = list.readPage ?? listPage;
  let previous: string | undefined;
  for (let page = 1; page <= mostPages; page += 1) {
    const asked = Object.entries(query);
    if (limit !== null) asked.push([limit, String(size)]);
    if (previous !== undefined) asked.push([after, previous]);
    const { batches, next } = readPage(await show(wire, list, asked), previous);
    yield batches;
    if (next === undefined) return;
    if (next === previous) break;
    previous = next;
  }
  throw new UnknownOutcomeError(`The list of batches at ${path} does not come to an end.`);
}

/** What is asked of a list beside which of its batches are ours. */
interface Search {
  /** How many requests ours has. */
  readonly count?: number;
  /** Batches on a page. */
  readonly size?: number;
  /** Whether no later page can hold one more, after a page with these of ours. */
  isAll?(found: readonly Remote[], onPage: readonly unknown[]): boolean;
}

/** The listed batches that are ours: each says itself whose it is. */
export async function findListed(
  wire: Wire,
  list: BatchList,
  isOurs: (batch: unknown) => boolean,
  { count, size, isAll }: Search = {},
): Promise<Found> {
  const remotes: Remote[] = [];
  for await (const page of batchPages(wire, list, size)) {
    const ours = page.filter(isOurs);
    remotes.push(...ours.map((batch) => list.toRemote(batch, wire, count)));
    if (isAll?.(remotes, ours)) break;
  }
  return remotes.length > 0 ? { kind: 'exact', remotes } : { kind: 'absent' };
}

/** The reply to a list with these query parameters. */
async function show(
  wire: Wire,
  { path, headers = {}, judge }: BatchList,
  query: readonly (readonly [name: string, value: string])[],
): Promise<unknown> {
  const asked = query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  const request = { method: 'GET', path: asked ? `${path}?${asked}` : path, headers } as const;
  return (await expectOk(wire, request, judge)).json();
}

/**
 * The state of these batches. A list costs as much as a GET, so it pays from the third batch on.
 * Foreign batches fill pages too: after ceil(ids / 100) + 2 of them the rest is asked one by one.
 */
export async function* pollBatches(
  wire: Wire,
  list: BatchList,
  batches: readonly (Pick<PolledBatch, 'id'> & Partial<PolledBatch>)[],
): AsyncIterable<Remote> {
  const open = new Map(batches.map(({ id, count }) => [id, count]));
  if (list.named && open.size > 1) {
    yield* pollNamed(wire, list, list.named, open);
  } else if (open.size > 2) {
    let left = Math.ceil(open.size / pageSize) + 2;
    for await (const page of batchPages(wire, list)) {
      for (const batch of page) {
        const id = text(field(batch, list.id ?? 'id'));
        if (id === undefined || !open.has(id)) continue;
        const count = open.get(id);
        open.delete(id);
        yield list.toRemote(batch, wire, count);
      }
      left -= 1;
      if (open.size === 0 || left === 0) break;
    }
  }
  for (const [id, count] of open) yield await pollOne(wire, list, id, count);
}

/**
 * The state of those of these batches that the provider shows when it is asked for them by name. They are
 * taken out of `open`; whether the rest is missing or was left out is asked one by one.
 */
async function* pollNamed(
  wire: Wire,
  list: BatchList,
  { parameter, most }: NonNullable<BatchList['named']>,
  open: Map<string, number | undefined>,
): AsyncIterable<Remote> {
  const ids = [...open.keys()];
  for (let at = 0; at < ids.length; at += most) {
    const asked = ids.slice(at, at + most).map((id) => [parameter, id] as const);
    const { batches } = (list.readPage ?? listPage)(await show(wire, list, asked), undefined);
    for (const batch of batches) {
      const id = text(field(batch, list.id ?? 'id'));
      if (id === undefined || !open.has(id)) continue;
      const count = open.get(id);
      open.delete(id);
      yield list.toRemote(batch, wire, count);
    }
  }
}

function pollOne(
  wire: Wire,
  list: BatchList,
  id: string,
  count: number | undefined,
): Promise<Remote> {
  const { headers = {}, judge } = list;
  return showOne(id, async () => {
    const path = `${list.path}/${encodeURIComponent(id)}`;
    const reply = await expectOk(wire, { method: 'GET', path, headers }, judge);
    return list.toRemote(await (list.readOne?.(reply) ?? reply.json()), wire, count);
  });
}

/** The batch that the provider shows when it is asked for this id. One that it does not know is missing. */
export async function showOne(id: string, ask: () => Promise<Remote>): Promise<Remote> {
  try {
    const remote = await ask();
    if (remote.id === id) return remote;
    throw new UnknownOutcomeError(`The provider was asked for batch ${id} and sent ${remote.id}.`);
  } catch (error) {
    if (!isGone(error)) throw error;
    return { id, state: 'missing', raw: String(error.status), readable: false, sources: {} };
  }
}
