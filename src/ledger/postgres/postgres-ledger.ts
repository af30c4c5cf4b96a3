import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from '../ledger.ts';
import { sqlReads } from '../sql/reads.ts';
import { accountMethods } from './accounts/accounts.ts';
import { prepareClaim, prepareClaimable, readLines } from './batches/claim.ts';
import { prepareCollected } from './batches/collected.ts';
import { prepareSpend } from './batches/costs.ts';
import { prepareCreating } from './batches/creating.ts';
import { moveMethods, prepareFinish } from './batches/moves.ts';
import { preparePlan } from './batches/plan.ts';
import { prepareReadMembers } from './batches/read-members.ts';
import { prepareBatchTimes } from './batches/times.ts';
import { prepareUnfinished } from './batches/unfinished.ts';
import type { Pulse } from './connection/pulse.ts';
import type { Store } from './connection/store.ts';
import { prepareOutbox } from './outbox/outbox.ts';
import type { Owners } from './owners/owners.ts';
import { preparePrune } from './prune/prune.ts';
import { prepareAdmit } from './requests/admit.ts';
import { readAnswers } from './requests/answers.ts';
import { prepareBodies, prepareSpool } from './requests/bodies.ts';
import { prepareLook } from './requests/look.ts';
import { prepareMarkSent, prepareSettled, prepareWithdraw } from './requests/settled.ts';
import { prepareToAskAgain } from './requests/to-ask-again.ts';
import { postgresView, prepareRows } from './view/postgres-view.ts';

interface Parts {
  readonly store: Store;
  readonly owners: Owners;
  readonly pulse: Pulse;
  readonly salt: Uint8Array;
}

/** All operations on one database. */
export function postgresLedger({ store, owners, pulse, salt }: Parts): Ledger {
  const finish = prepareFinish(store);
  const moves = moveMethods(store);
  const bodies = prepareBodies(store);
  const rows = prepareRows(store);
  /** Callers of this process look again, too; other processes hear of it from the server. */
  const touching =
    <Given extends unknown[], T>(work: (...given: Given) => Promise<T>) =>
    async (...given: Given): Promise<T> => {
      const result = await work(...given);
      pulse.touch();
      return result;
    };
  const leave = touching<Parameters<Ledger['leave']>, void>(
    (owner, { finished } = { finished: true }) => owners.leave(owner, finished),
  );
  let closing: Promise<void> | undefined;
  const close = async () => {
    try {
      await Promise.all(owners.joined().map((owner) => leave(owner)));
    } finally {
      await farewell(Promise.all([pulse.stop(), store.close()]));
    }
  };

  return {
    salt,
    ownerLease: owners.lease,
    outbox: prepareOutbox(store),
    async join(info) {
      await store.persist(() => pulse.start());
      return owners.join(info);
    },
    troubled: (owner, troubles) => owners.troubled(owner, troubles),
    ...accountMethods(store),
    admit: prepareAdmit(store, owners),
    withdraw: prepareWithdraw(store, owners),
    markSent: prepareMarkSent(store, owners),
    spool: prepareSpool(store, owners),
    bodies,
    plan: touching(preparePlan(store, owners)),
    ...moves,
    creating: prepareCreating(store, owners.lease),
    refused: touching((lease, failure) => finish(lease, 'refused', failure)),
    released: touching((lease) => finish(lease, 'released')),
    collected: touching(prepareCollected(store)),
    ended: touching((lease, failure, messages) => finish(lease, 'ended', failure, messages)),
    settled: touching(prepareSettled(store, owners)),
    spend: prepareSpend(store, owners),
    claim: touching(prepareClaim(store, owners)),
    answers: (requests) => store.read((session) => readAnswers(session, requests)),
    lines: (batch) => store.read((session) => readLines(session, batch)),
    giveBack: touching(moves.giveBack),
    claimable: prepareClaimable(store),
    changed: async () => pulse.changed(),
    toAskAgain: prepareToAskAgain(store),
    look: prepareLook(store),
    ...sqlReads(rows, 'answered'),
    batchTimes: prepareBatchTimes(store),
    members: prepareReadMembers(store),
    unfinished: prepareUnfinished(store),
    view: postgresView(store, pulse, bodies, rows),
    prune: touching(preparePrune(store)),
    leave,
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** A server that does not answer must not hold up a program that has all its answers. */
const FAREWELL_MILLISECONDS = 2_000;

/** Idle connections keep no process alive, so this does until they are closed. */
async function farewell(closing: Promise<unknown>): Promise<void> {
  const waited = new AbortController();
  const enough = sleep(FAREWELL_MILLISECONDS, undefined, { signal: waited.signal });
  try {
    await Promise.race([closing, enough]);
  } finally {
    waited.abort();
    enough.catch(() => {});
  }
}
