import { invariant } from '../../base/errors.ts';
import { attemptsBefore, decide, lookOf, nobody } from '../admission-rules.ts';
import { fingerprintKey } from '../fingerprints.ts';
import type { Admission, Ask, Look, OwnerId } from '../ledger.ts';
import {
  type MemoryOwner,
  type MemoryRequest,
  type MemoryState,
  olderOf,
  requireOwner,
  standingOf,
} from './state.ts';

export function admit(state: MemoryState, owner: OwnerId, asks: readonly Ask[]): Admission[] {
  const me = requireOwner(state, owner);
  return asks.map((ask) => admitOne(state, me, ask));
}

function admitOne(state: MemoryState, me: MemoryOwner, ask: Ask): Admission {
  const fingerprint = fingerprintKey(ask.fingerprint);
  const occurrence =
    ask.occurrence === 'next' ? nextOccurrence(state, me, fingerprint) : ask.occurrence;
  const key = `${fingerprint}${occurrence}`;
  const newest = state.newest.get(key);
  if (!newest) return insert(state, me, ask, occurrence, key, undefined);

  const known = (ask.cache && newestAnswered(state, newest)) || newest;
  const decision = decide({ state: known.state, hasAnswer: known.answer !== undefined }, ask, () =>
    standingOf(state, known.owner, me),
  );
  switch (decision) {
    case 'renew':
      return insert(state, me, ask, occurrence, key, known);
    case 'take': {
      const attempt = attemptsBefore(known.state, known.attempt);
      const sent = known.state === 'admitted' && known.sent && { sent: true as const };
      known.state = 'admitted';
      known.attempt = attempt;
      known.sent = false;
      known.owner = me.id;
      known.queue = ask.queue;
      known.batch = undefined;
      known.answer = undefined;
      known.at = state.now();
      return {
        request: known.id,
        occurrence,
        is: 'mine',
        ...(attempt > 0 && { attempt }),
        ...sent,
      };
    }
    case 'wait':
      return {
        request: known.id,
        occurrence,
        is: 'wait',
        ...(known.batch && { batch: known.batch.id }),
      };
    case 'adopt':
      known.owner = me.id;
      return served(known, occurrence);
    case 'serve':
      return served(known, occurrence);
  }
}

/** Like `admit`, without its writes. */
export function look(state: MemoryState, run: string, ask: Ask & { occurrence: number }): Look {
  const newest = state.newest.get(`${fingerprintKey(ask.fingerprint)}${ask.occurrence}`);
  if (!newest) return { is: 'new' };
  const known = (ask.cache && newestAnswered(state, newest)) || newest;
  const { answer } = known;
  const asker: MemoryOwner = { id: nobody, run, host: '', pid: 0, standing: 'here' };
  const decision = decide({ state: known.state, hasAnswer: answer !== undefined }, ask, () =>
    standingOf(state, known.owner, asker),
  );
  return lookOf(decision, answer);
}

function insert(
  state: MemoryState,
  me: MemoryOwner,
  ask: Ask,
  occurrence: number,
  key: string,
  older: MemoryRequest | undefined,
): Admission {
  const request: MemoryRequest = {
    id: ++state.lastId,
    key,
    fingerprint: ask.fingerprint,
    occurrence,
    older,
    queue: ask.queue,
    owner: me.id,
    batch: undefined,
    state: 'admitted',
    attempt: 0,
    sent: false,
    at: state.now(),
    answer: undefined,
    body: undefined,
  };
  state.requests.set(request.id, request);
  state.newest.set(key, request);
  return { request: request.id, occurrence, is: 'mine' };
}

function served(known: MemoryRequest, occurrence: number): Admission {
  invariant(known.answer, `Request ${known.id} has no answer to serve`);
  return {
    request: known.id,
    occurrence,
    is: 'answered',
    answer: known.answer,
    ...(known.batch && { batchToken: known.batch.token }),
  };
}

function newestAnswered(state: MemoryState, newest: MemoryRequest): MemoryRequest | undefined {
  let request: MemoryRequest | undefined = newest;
  while (request && !(request.state === 'answered' && request.answer)) {
    request = olderOf(state, request);
  }
  return request;
}

function nextOccurrence(state: MemoryState, me: MemoryOwner, fingerprint: string): number {
  const key = `${me.run}\n${fingerprint}`;
  const count = state.runCounts.get(key) ?? 0;
  state.runCounts.set(key, count + 1);
  return count;
}
