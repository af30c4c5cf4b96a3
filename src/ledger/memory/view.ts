import { invariant } from '../../base/errors.ts';
import type { RequestId } from '../ledger.ts';
import type { BatchPage, BatchQuery, FoundRequest, LedgerView, WaitingQueue } from '../view.ts';
import { type MemoryRequest, type MemoryState, ownerHere } from './state.ts';
import { summarise } from './summaries.ts';

const mostSamples = 100;

export function memoryView(state: MemoryState): LedgerView {
  const newestFirst = () => [...state.requests.values()].sort((a, b) => b.id - a.id);
  return {
    changed: async () => state.writes,
    batches: async (query) => batches(state, query),
    async models() {
      const known = new Map<string, { provider: string; model: string }>();
      for (const { provider, model } of state.queues.values()) {
        known.set(`${provider} ${model}`, { provider, model });
      }
      return [...known].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
    },
    async tally(token) {
      const tally = { planned: 0, answered: 0, failed: 0 };
      for (const { batch, state: is } of state.requests.values()) {
        if (batch?.token === token && is !== 'admitted') tally[is] += 1;
      }
      return tally;
    },
    waiting: async () => ({ queues: waiting(state), isMore: false }),
    async failed(limit) {
      const failed = newestFirst().filter(({ state: is, answer }) => is === 'failed' && answer);
      return failed.slice(0, limit).map((one) => withoutBody(found(state, one)));
    },
    async request(id) {
      const request = state.requests.get(id);
      return request && found(state, request);
    },
    async samples(id) {
      const asked = state.requests.get(id);
      if (asked === undefined) return [];
      const alike = [...state.requests.values()]
        .filter(({ fingerprint }) => Buffer.compare(fingerprint, asked.fingerprint) === 0)
        .map((one) => withoutBody(found(state, one)));
      const order = (a: FoundRequest, b: FoundRequest) =>
        a.occurrence - b.occurrence || a.generation - b.generation;
      return alike.sort(order).slice(0, mostSamples);
    },
    async requests({ before = Infinity, limit }) {
      const older = newestFirst().filter(({ id }) => id < before);
      return older.slice(0, limit).map((one) => found(state, one));
    },
  };
}

function batches(state: MemoryState, query: BatchQuery): BatchPage {
  const { states, provider, model, name, tag, failed, before = Infinity, limit } = query;
  const fitting = [...state.batches.values()].reverse().filter((batch) => {
    const queue = state.queues.get(batch.queue);
    return (
      batch.id < before &&
      (states?.includes(batch.state) ?? true) &&
      (provider ?? queue?.provider) === queue?.provider &&
      (model ?? queue?.model) === queue?.model &&
      (name === undefined || batch.name?.toLowerCase().includes(name.toLowerCase())) &&
      (tag === undefined || batch.tags[tag.key] === tag.value) &&
      (!failed || batch.failure !== undefined)
    );
  });
  const shown = fitting.slice(0, limit);
  const next = fitting.length > limit ? shown.at(-1)?.id : undefined;
  return {
    batches: shown.map((batch) => summarise(state, batch)),
    ...(next !== undefined && { next }),
  };
}

function waiting(state: MemoryState): WaitingQueue[] {
  const groups = new Map<string, { -readonly [Name in keyof WaitingQueue]: WaitingQueue[Name] }>();
  for (const { queue: id, owner, state: is, batch, at, sent } of state.requests.values()) {
    if (is !== 'admitted' || batch) continue;
    const queue = state.queues.get(id);
    invariant(queue, 'A request has no queue');
    const { provider, endpoint, model, base } = queue;
    const here = ownerHere(state, owner);
    const none = {
      provider,
      endpoint,
      model,
      base,
      count: 0,
      sent: 0,
      since: at,
      ...(here && { owner: here }),
    };
    const group = groups.get(`${id} ${owner}`) ?? none;
    group.count += 1;
    group.sent += sent ? 1 : 0;
    group.since = Math.min(group.since, at);
    groups.set(`${id} ${owner}`, group);
  }
  return [...groups.values()];
}

function found(state: MemoryState, request: MemoryRequest): FoundRequest {
  const { id, fingerprint, occurrence, attempt, at, batch, answer, body } = request;
  const queue = state.queues.get(request.queue);
  invariant(queue, 'A request has no queue');
  const { provider, endpoint, model, base } = queue;
  return {
    provider,
    endpoint,
    model,
    base,
    fingerprint,
    occurrence,
    attempt,
    at,
    request: id as RequestId,
    generation: generationOf(request),
    state: request.state,
    ...(batch && {
      batch: {
        token: batch.token,
        tags: batch.tags,
        ...(batch.name !== undefined && { name: batch.name }),
        ...(batch.remoteId !== undefined && { remoteId: batch.remoteId }),
      },
    }),
    ...(answer && { answer }),
    ...(body !== undefined && { body }),
  };
}

function withoutBody({ body: _, ...rest }: FoundRequest): FoundRequest {
  return rest;
}

function generationOf({ older }: MemoryRequest): number {
  return older ? generationOf(older) + 1 : 0;
}
