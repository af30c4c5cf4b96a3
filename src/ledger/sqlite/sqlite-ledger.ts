import { bestEffort } from '../best-effort.ts';
import type { Ledger } from '../ledger.ts';
import { sqlReads } from '../sql/reads.ts';
import { accountMethods } from './accounts/accounts.ts';
import { prepareForgetAnswers } from './answers/forget-answers.ts';
import { answeredNow, prepareNewAnswers } from './answers/new-answers.ts';
import { prepareReadAnswers } from './answers/read-answers.ts';
import { prepareClaim, prepareClaimable } from './batches/claim.ts';
import { prepareCollected } from './batches/collected.ts';
import { prepareSpend } from './batches/costs.ts';
import { prepareLeases } from './batches/lease.ts';
import { moveMethods, prepareFinish } from './batches/moves.ts';
import { prepareAbandonPlan, preparePlan } from './batches/plan.ts';
import { prepareReadLines } from './batches/read-lines.ts';
import { prepareReadMembers } from './batches/read-members.ts';
import { prepareBatchTimes } from './batches/times.ts';
import { prepareUnfinished } from './batches/unfinished.ts';
import type { Store } from './connection/store.ts';
import { prepareAddMessages, prepareOutbox } from './outbox/outbox.ts';
import type { OwnerLocks } from './owners/owner-locks.ts';
import { prepareOwners } from './owners/owners.ts';
import { preparePrune } from './prune/prune.ts';
import { prepareAdmit } from './requests/admit.ts';
import { prepareBodies, prepareSpool } from './requests/bodies.ts';
import { prepareLook } from './requests/look.ts';
import { prepareMarkSent, prepareSettled, prepareWithdraw } from './requests/settled.ts';
import { prepareRows, sqliteView } from './view/sqlite-view.ts';

/** All operations on one store; each statement is prepared once, when it is first run. */
export function sqliteLedger(store: Store, locks: OwnerLocks, salt: Uint8Array): Ledger {
  const owners = prepareOwners(store, locks);
  const leases = prepareLeases(store, owners);
  const newAnswers = prepareNewAnswers(store);
  const abandon = prepareAbandonPlan(store);
  const addMessages = prepareAddMessages(store);
  const finish = prepareFinish(store, leases, newAnswers, addMessages);
  const forgetAnswers = prepareForgetAnswers(store);
  const bodies = prepareBodies(store);
  const rows = prepareRows(store);

  /** First undoes plans that could not be undone when they failed: their requests may be meant. */
  const afterPlans =
    <Given extends unknown[], T>(work: (...given: Given) => Promise<T>) =>
    (...given: Given): Promise<T> =>
      abandon.isDone() ? work(...given) : abandon.rest().then(() => work(...given));
  const leave: Ledger['leave'] = async (owner, { finished } = { finished: true }) => {
    try {
      await abandon.rest();
      // If the disk is full, the owners that claim these open batches do it.
      await bestEffort(store.log, 'file the last answers', newAnswers.enterAllOf(owner));
      if (store.keep === 'none' && finished) await forgetAnswers(owner);
    } finally {
      await owners.leave(owner, finished);
    }
    store.touch();
  };
  let closing: Promise<void> | undefined;
  const close = async () => {
    try {
      for (const owner of owners.joined()) await leave(owner);
    } finally {
      await store.close();
    }
  };

  return {
    salt,
    outbox: prepareOutbox(store, addMessages),
    async join(info) {
      const owner = await owners.join(info);
      // A failure to tidy up must not keep the owner from working.
      await bestEffort(store.log, 'remove lock files of owners that are gone', owners.sweep());
      return owner;
    },
    troubled: owners.troubled,
    ...accountMethods(store),
    admit: afterPlans(prepareAdmit(store, owners, newAnswers)),
    withdraw: afterPlans(prepareWithdraw(store, owners)),
    markSent: afterPlans(prepareMarkSent(store, owners)),
    spool: prepareSpool(store),
    bodies,
    plan: afterPlans(preparePlan(store, owners, abandon)),
    ...moveMethods(store, leases),
    refused: (lease, failure) => finish(lease, 'refused', failure),
    released: (lease) => finish(lease, 'released'),
    collected: prepareCollected(store, leases, newAnswers),
    ended: (lease, failure, messages) => finish(lease, 'ended', failure, messages),
    settled: afterPlans(prepareSettled(store, owners)),
    spend: prepareSpend(store, owners),
    claim: prepareClaim(store, owners, newAnswers, abandon),
    answers: prepareReadAnswers(store, newAnswers),
    lines: prepareReadLines(store, newAnswers),
    claimable: prepareClaimable(store, owners, abandon),
    changed: () => store.changed(),
    // Asking costs a few microseconds each; finding out beforehand would cost as much.
    toAskAgain: async (waits) => waits.map(({ request }) => request),
    look: prepareLook(store, owners, newAnswers),
    ...sqlReads(rows, answeredNow),
    batchTimes: prepareBatchTimes(store),
    members: prepareReadMembers(store),
    unfinished: prepareUnfinished(store, owners),
    view: sqliteView(store, owners, bodies, rows),
    prune: preparePrune(store, owners, abandon),
    leave,
    close() {
      closing ??= close();
      return closing;
    },
  };
}
