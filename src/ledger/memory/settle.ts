import type { Ledger, OwnerId, Settlement } from '../ledger.ts';
import { firstOfEach } from '../sql/settlements.ts';
import { addCost, addOrdinaryCosts } from './costs.ts';
import {
  forget,
  free,
  type MemoryRequest,
  type MemoryState,
  requireLease,
  requireOwner,
} from './state.ts';

export function outcomeMethods(state: MemoryState) {
  return {
    /** Outcomes of members. A request that left the batch or is final stays as it is: the first wins. */
    async collected(lease, settlements, cursor) {
      const batch = requireLease(state, lease);
      state.writes += 1;
      const counted: Settlement[] = [];
      for (const settlement of settlements) {
        const request = state.requests.get(settlement.request);
        if (!request || request.batch !== batch || request.state !== 'planned') continue;
        if (settlement.is === 'answer') batch.answered += 1;
        counted.push(settlement);
        apply(state, request, settlement, lease.owner);
      }
      addCost(state, batch, counted);
      if (cursor !== undefined) batch.cursor = cursor;
    },
    /** Outcomes of requests that are in no batch and belong to this owner. */
    async settled(owner, settlements, spent = []) {
      requireOwner(state, owner);
      state.writes += 1;
      addOrdinaryCosts(state, spent);
      for (const settlement of firstOfEach(settlements)) {
        const request = state.requests.get(settlement.request);
        if (request?.state !== 'admitted' || request.owner !== owner) continue;
        apply(state, request, settlement, owner);
      }
    },
  } satisfies Partial<Ledger>;
}

function apply(
  state: MemoryState,
  request: MemoryRequest,
  settlement: Settlement,
  owner: OwnerId,
): void {
  switch (settlement.is) {
    case 'answer': {
      const { status, headers, body } = settlement.answer;
      request.state = status >= 200 && status < 300 ? 'answered' : 'failed';
      request.owner = owner;
      request.at = state.now();
      request.answer = { status, headers, body };
      if (state.keep !== 'all') request.body = undefined;
      return;
    }
    case 'retry':
      free(request, owner, state.now());
      request.attempt += 1;
      return;
    case 'release':
      forget(state, request);
  }
}
