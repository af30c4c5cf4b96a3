import { randomBytes } from 'node:crypto';
import type { Answer } from '../../base/types.ts';
import type { Ledger, QueueKey, RequestId } from '../ledger.ts';
import type { LedgerOptions } from '../ledger-options.ts';
import { queueIdentity } from '../queue-identity.ts';
import { admit, look } from './admit.ts';
import { batchMethods, finish } from './batches.ts';
import { costMethods } from './costs.ts';
import { memoryOutbox } from './outbox.ts';
import { prune } from './prune.ts';
import { outcomeMethods } from './settle.ts';
import { forget, type MemoryState, requireOwner } from './state.ts';
import { summaryMethods } from './summaries.ts';
import { memoryView } from './view.ts';

/** A ledger that ends with its process: `store: ":memory:"`, dry runs, tests. */
export function openMemoryLedger(options: LedgerOptions = {}): Promise<Ledger> {
  return Promise.resolve(memoryLedger(options));
}

function memoryLedger({ clock = { now: Date.now }, keep = 'answers' }: LedgerOptions): Ledger {
  const state: MemoryState = {
    now: () => clock.now(),
    keep,
    owners: new Map(),
    accounts: new Map(),
    accountKeys: new Map(),
    queueIds: new Map(),
    queues: new Map(),
    limits: new Map(),
    requests: new Map(),
    newest: new Map(),
    batches: new Map(),
    runCounts: new Map(),
    runCosts: new Map(),
    dailyCosts: new Map(),
    lastId: 0,
    writes: 0,
  };

  const outbox = memoryOutbox(state.now);

  return {
    salt: randomBytes(32),
    outbox,

    async join(info) {
      const id = ++state.lastId;
      state.owners.set(id, { ...info, id, standing: 'here' });
      return id;
    },
    async troubled(id, troubles) {
      const owner = state.owners.get(id);
      if (owner) owner.troubles = troubles;
      state.writes += 1;
    },
    async account(key) {
      const identity = `${key.provider}\n${Buffer.from(key.hash).toString('hex')}`;
      const id = idFor(state, state.accounts, identity);
      const hint = key.hint ?? state.accountKeys.get(id)?.hint;
      state.accountKeys.set(id, { ...key, ...(hint !== undefined && { hint }) });
      return id;
    },
    async queue(key: QueueKey) {
      const id = idFor(state, state.queueIds, queueIdentity(key));
      if (!state.queues.has(id)) state.queues.set(id, key);
      return id;
    },

    async limit(account, quota) {
      const known = state.limits.get(`${account}\n${quota}`);
      if (!known) return undefined;
      const { learntAt, ...limit } = known;
      return { ...limit, age: Math.abs(state.now() - learntAt) };
    },
    async learn(account, quota, { tokens, named }) {
      state.limits.set(`${account}\n${quota}`, { tokens, named, learntAt: state.now() });
    },

    admit: async (owner, asks) => admit(state, owner, asks),
    async withdraw(owner, requests) {
      requireOwner(state, owner);
      for (const id of requests) {
        const request = state.requests.get(id);
        if (request?.state === 'admitted' && request.owner === owner) forget(state, request);
      }
      state.writes += 1;
    },
    async markSent(owner, requests, sent) {
      requireOwner(state, owner);
      for (const id of requests) {
        const request = state.requests.get(id);
        if (request?.state === 'admitted' && request.owner === owner) request.sent = sent;
      }
    },
    async spool(bodies) {
      for (const { request: id, body } of bodies) {
        const request = state.requests.get(id);
        if (request?.state === 'admitted' || request?.state === 'planned') request.body = body;
      }
    },
    async bodies(requests) {
      const found = new Map<number, string>();
      for (const id of requests) {
        const body = state.requests.get(id)?.body;
        if (body !== undefined) found.set(id, body);
      }
      return found;
    },

    ...batchMethods(state),
    ...outcomeMethods(state),
    ...costMethods(state),
    ...summaryMethods(state),
    async ended(lease, failure, messages = []) {
      finish(state, lease, 'ended', failure);
      await outbox.add(messages);
    },
    async answers(requests) {
      const found = new Map<RequestId, Answer>();
      for (const id of requests) {
        const answer = state.requests.get(id)?.answer;
        if (answer) found.set(id, answer);
      }
      return found;
    },
    changed: async () => state.writes,
    // Asking costs next to nothing here.
    toAskAgain: async (waits) => waits.map(({ request }) => request),
    look: async (run, asks) => asks.map((ask) => look(state, run, ask)),
    view: memoryView(state),
    prune: async (query) => prune(state, query),
    leave: async (owner, options) => leave(state, owner, options),
    async close() {
      for (const owner of state.owners.keys()) leave(state, owner);
    },
  };
}

function idFor(state: MemoryState, ids: Map<string, number>, identity: string): number {
  const known = ids.get(identity);
  if (known !== undefined) return known;
  const id = ++state.lastId;
  ids.set(identity, id);
  return id;
}

function leave(state: MemoryState, id: number, { finished } = { finished: true }): void {
  state.writes += 1;
  const owner = state.owners.get(id);
  if (owner?.standing !== 'here') return;
  owner.standing = finished ? 'closed' : 'gone';
  if (!finished || state.keep !== 'none') return;
  for (const request of state.requests.values()) {
    if (request.owner === id) request.answer = undefined;
  }
}
