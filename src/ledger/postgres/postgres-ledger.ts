import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from '../ledger.ts';
import { prepareAccount, prepareLearn, prepareLimit, prepareQueue } from './accounts/accounts.ts';
import { prepareClaim, prepareClaimable } from './batches/claim.ts';
import { prepareCollected } from './batches/collected.ts';
import { prepareAverageOutput, prepareSpend } from './batches/costs.ts';
import { prepareCreating } from './batches/creating.ts';
import {
  prepareAccepted,
  prepareFinish,
  prepareGiveBack,
  preparePolled,
  prepareStaged,
} from './batches/moves.ts';
import { preparePlan } from './batches/plan.ts';
import { prepareReadMembers } from './batches/read-members.ts';
import { prepareList, prepareShow } from './batches/summaries.ts';
import { prepareUnfinished } from './batches/unfinished.ts';
import type { Pulse } from './connection/pulse.ts';
import type { Store } from './connection/store.ts';
import type { Owners } from './owners/owners.ts';
import { preparePrune } from './prune/prune.ts';
import { prepareAdmit } from './requests/admit.ts';
import { prepareBodies, prepareSpool } from './requests/bodies.ts';
import { prepareLook } from './requests/look.ts';
import { prepareSettled, prepareWithdraw } from './requests/settled.ts';
import { prepareToAskAgain } from './requests/to-ask-again.ts';

interface Parts {
  readonly store: Store;
  readonly owners: Owners;
  readonly pulse: Pulse;
  readonly salt: Uint8Array;
}

/** All operations on one database. */
export function postgresLedger({ store, owners, pulse, salt }: Parts): Ledger {
  const finish = prepareFinish(store);
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
    async join(info) {
      await store.persist(() => pulse.start());
      return owners.join(info);
    },
    account: prepareAccount(store),
    queue: prepareQueue(store),
    limit: prepareLimit(store),
    learn: prepareLearn(store),
    admit: prepareAdmit(store, owners),
    withdraw: prepareWithdraw(store, owners),
    spool: prepareSpool(store, owners),
    bodies: prepareBodies(store),
    plan: touching(preparePlan(store, owners)),
    staged: prepareStaged(store),
    creating: prepareCreating(store, owners.lease),
    accepted: prepareAccepted(store),
    refused: touching((lease, failure) => finish(lease, 'refused', failure)),
    released: touching((lease) => finish(lease, 'released')),
    polled: preparePolled(store),
    collected: touching(prepareCollected(store)),
    ended: touching((lease, failure) => finish(lease, 'ended', failure)),
    settled: touching(prepareSettled(store, owners)),
    spend: prepareSpend(store, owners),
    claim: touching(prepareClaim(store, owners)),
    giveBack: touching(prepareGiveBack(store)),
    claimable: prepareClaimable(store),
    changed: async () => pulse.changed(),
    toAskAgain: prepareToAskAgain(store),
    look: prepareLook(store),
    averageOutput: prepareAverageOutput(store),
    list: prepareList(store),
    show: prepareShow(store),
    members: prepareReadMembers(store),
    unfinished: prepareUnfinished(store),
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
