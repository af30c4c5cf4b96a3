import type { OwnerInfo } from '../../ledger/ledger.ts';
import type { LedgerReader, WaitingQueue } from '../../ledger/view.ts';
import { typicalTimes } from '../../orchestrator/model/batch-times.ts';
import type { BatchJson, NowJson, PlaceJson, QueueJson, TroubleJson } from '../api-types.ts';
import { batchesJson } from './batch-json.ts';

const open = ['planned', 'staged', 'creating', 'accepted'] as const;
const over = ['ended', 'refused', 'released'] as const;
const mostOpen = 500;
const mostRecent = 6;
/** Batches end in another order than they were made in: among so many of the newest, those are found that ended last. */
const mostLooked = 50;

/** What runs and waits, by provider, endpoint and model. */
export async function readNow(ledger: LedgerReader, at: number): Promise<NowJson> {
  const { view } = ledger;
  const running = await view.batches({ states: open, limit: mostOpen });
  const ended = await view.batches({ states: over, limit: mostLooked });
  const recent = [...ended.batches]
    .sort((one, other) => (other.endedAt ?? 0) - (one.endedAt ?? 0))
    .slice(0, mostRecent);
  const { queues: waiting, isMore } = await view.waiting();
  const batches = await batchesJson(ledger, running.batches, at);
  const places = new Map<string, PlaceJson>();
  for (const place of [...batches, ...waiting]) places.set(nameOf(place), place);
  const queues: QueueJson[] = [];
  for (const [name, place] of places) {
    const of = (one: PlaceJson) => nameOf(one) === name;
    const usual = await usualTime(ledger, place);
    queues.push(queueJson(place, batches.filter(of), waiting.filter(of), usual));
  }
  queues.sort((a, b) => sizeOf(b) - sizeOf(a));
  const troubles = troublesOf([...batches, ...waiting].flatMap(({ owner }) => owner ?? []));
  const hasOlder = running.next !== undefined;
  return { at, troubles, queues, isMore, hasOlder, recent: await batchesJson(ledger, recent, at) };
}

function queueJson(
  { provider, endpoint, model, base }: PlaceJson,
  batches: readonly BatchJson[],
  waiting: readonly WaitingQueue[],
  usual: number | undefined,
): QueueJson {
  const sum = (some: readonly WaitingQueue[]) => some.reduce((all, { count }) => all + count, 0);
  const owners = new Map<string, OwnerInfo>();
  for (const { owner } of [...batches, ...waiting]) {
    if (owner) owners.set(`${owner.host} ${owner.pid}`, owner);
  }
  const sent = waiting.reduce((all, one) => all + one.sent, 0);
  const since = waiting.map((one) => one.since);
  return {
    provider,
    endpoint,
    model,
    base,
    batches,
    sent,
    waiting: sum(waiting) - sent,
    left: sum(waiting.filter(({ owner }) => owner === undefined)),
    ...(since.length > 0 && { waitingSince: Math.min(...since) }),
    owners: [...owners.values()],
    ...(usual !== undefined && { usual }),
  };
}

/** Each text once, with the processes that say it. One process may be several owners. */
function troublesOf(owners: readonly OwnerInfo[]): TroubleJson[] {
  const troubles = new Map<string, Map<string, OwnerInfo>>();
  for (const owner of owners) {
    for (const text of owner.troubles ?? []) {
      const saying = troubles.get(text) ?? new Map<string, OwnerInfo>();
      troubles.set(text, saying.set(`${owner.host} ${owner.pid}`, owner));
    }
  }
  return [...troubles].map(([text, saying]) => ({ text, owners: [...saying.values()] }));
}

/** How long half of the past batches of a model took. */
export async function usualTime(
  ledger: LedgerReader,
  { provider, model }: Pick<PlaceJson, 'provider' | 'model'>,
): Promise<number | undefined> {
  const [typical] = typicalTimes(await ledger.batchTimes({ provider, model }));
  return typical?.duration;
}

function nameOf({ provider, endpoint, model, base }: PlaceJson): string {
  return [provider, base, endpoint, model].join('\n');
}

function sizeOf({ waiting, sent, batches }: QueueJson): number {
  return waiting + sent + batches.reduce((all, { count }) => all + count, 0);
}
