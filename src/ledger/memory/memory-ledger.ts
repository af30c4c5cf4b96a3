import { randomBytes } from 'node:crypto';
import type { Ledger, QueueKey } from '../ledger.ts';
import type { LedgerOptions } from '../ledger-options.ts';
import { queueIdentity } from '../queue-identity.ts';
import { admit, look } from './admit.ts';
import * as batches from './batches.ts';
import { averageOutput, spend } from './costs.ts';
import { prune } from './prune.ts';
import { collect, settle } from './settle.ts';
import { forget, type MemoryState, requireOwner } from './state.ts';
import { list, members, show, unfinished } from './summaries.ts';

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
    lastId: 0,
    writes: 0,
  };

  const changing = <T>(work: () => T): T => {
    state.writes += 1;
    return work();
  };

  return {
    salt: randomBytes(32),

    async join(info) {
      const id = ++state.lastId;
      state.owners.set(id, { ...info, id, standing: 'here' });
      return id;
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

    plan: async (owner, batch, requests) =>
      changing(() => batches.plan(state, owner, batch, requests)),
    staged: async (lease, handle) => batches.staged(state, lease, handle),
    creating: async (lease, handle, alone) => batches.creating(state, lease, handle, alone),
    accepted: async (lease, remote) => batches.accepted(state, lease, remote),
    refused: async (lease, failure) =>
      changing(() => batches.finish(state, lease, 'refused', failure)),
    released: async (lease) => changing(() => batches.finish(state, lease, 'released', undefined)),
    polled: async (updates) => batches.polled(state, updates),
    collected: async (lease, settlements, cursor) =>
      changing(() => collect(state, lease, settlements, cursor)),
    ended: async (lease, failure) => changing(() => batches.finish(state, lease, 'ended', failure)),
    settled: async (owner, settlements) => changing(() => settle(state, owner, settlements)),

    spend: async (owner, dollars, budget, purse) => spend(state, owner, dollars, budget, purse),

    claim: async (owner, batch) => changing(() => batches.claim(state, owner, batch)),
    giveBack: async (lease) => changing(() => batches.giveBack(state, lease)),
    claimable: async (account) => batches.claimable(state, account),
    changed: async () => state.writes,
    // Asking costs next to nothing here.
    toAskAgain: async (waits) => waits.map(({ request }) => request),

    look: async (run, asks) => asks.map((ask) => look(state, run, ask)),
    averageOutput: async (queue) => averageOutput(state, queue),
    list: async (query) => list(state, query),
    show: async (id) => show(state, id),
    members: async (token, page) => members(state, token, page),
    unfinished: async () => unfinished(state),
    prune: async (query) => changing(() => prune(state, query)),
    leave: async (owner, options) => changing(() => leave(state, owner, options)),
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
  const owner = state.owners.get(id);
  if (owner?.standing !== 'here') return;
  owner.standing = finished ? 'closed' : 'gone';
  if (!finished || state.keep !== 'none') return;
  for (const request of state.requests.values()) {
    if (request.owner === id) request.answer = undefined;
  }
}
