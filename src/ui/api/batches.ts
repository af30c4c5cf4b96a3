import { GatewayError } from '../../gateway/gateway-error.ts';
import type { BatchSummary } from '../../ledger/ledger.ts';
import type { BatchQuery, LedgerReader } from '../../ledger/view.ts';
import type { BatchDetailJson, BatchesJson, MembersJson } from '../api-types.ts';
import { batchesJson } from './batch-json.ts';
import { memberJson } from './member-json.ts';
import { usualTime } from './now.ts';
import { oneOf } from './one-of.ts';
import { wholeNumber } from './whole-number.ts';

const pageSize = 50;

/** The states that a reader chooses among, in the words of the page. */
const states: Readonly<Record<string, Pick<BatchQuery, 'states' | 'failed'>>> = {
  open: { states: ['planned', 'staged', 'creating', 'accepted'] },
  waiting: { states: ['planned', 'staged', 'creating'] },
  running: { states: ['accepted'] },
  done: { states: ['ended'] },
  refused: { states: ['refused'] },
  unsent: { states: ['released'] },
  failed: { failed: true },
};

export async function readBatches(
  ledger: LedgerReader,
  query: URLSearchParams,
  at: number,
): Promise<BatchesJson> {
  const page = await ledger.view.batches(batchQuery(query));
  const batches = await batchesJson(ledger, page.batches, at);
  return { at, batches, ...(page.next !== undefined && { next: page.next }) };
}

function batchQuery(query: URLSearchParams): BatchQuery {
  const text = (name: string) => query.get(name)?.trim() || undefined;
  const [state, provider, model, name] = ['state', 'provider', 'model', 'name'].map(text);
  const before = wholeNumber(query, 'before');
  const [key = '', ...value] = (text('tag') ?? '').split('=');
  return {
    limit: pageSize,
    ...(state !== undefined && oneOf(states, state, 'state')),
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
    ...(name !== undefined && { name }),
    ...(key !== '' && { tag: { key: key.trim(), value: value.join('=').trim() } }),
    ...(before !== undefined && { before }),
  };
}

/** A command takes the beginning of an id, too; the page shows whole ones, and takes nothing else. */
export async function requireBatch(ledger: LedgerReader, id: string): Promise<BatchSummary> {
  const found = await ledger.show(id);
  if (found === undefined) throw new GatewayError('not_found', 'The ledger has no such batch.');
  return found;
}

export async function readBatch(
  ledger: LedgerReader,
  id: string,
  at: number,
): Promise<BatchDetailJson> {
  const found = await requireBatch(ledger, id);
  const [batch] = await batchesJson(ledger, [found], at);
  const { planned: waiting, answered, failed } = await ledger.view.tally(found.token);
  const usual = await usualTime(ledger, found);
  return {
    at,
    batch: batch as BatchDetailJson['batch'],
    members: { waiting, answered, failed },
    ...(usual !== undefined && { usual }),
  };
}

export async function readMembers(
  ledger: LedgerReader,
  id: string,
  query: URLSearchParams,
): Promise<MembersJson> {
  const from = wholeNumber(query, 'from') ?? 0;
  const { members, next } = await ledger.members(id, { from, limit: pageSize });
  if (members.length === 0) await requireBatch(ledger, id);
  const bodies = await ledger.bodies(members.map(({ request }) => request));
  const lines = members.map((member) => memberJson(member, bodies.get(member.request)));
  return { members: lines, ...(next !== undefined && { next }) };
}
