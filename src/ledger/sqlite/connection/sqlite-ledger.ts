import type { Ledger } from '../../ledger.ts';
import { prepareForgetAnswers } from '../answers/forget-answers.ts';
import { prepareNewAnswers } from '../answers/new-answers.ts';
import { prepareAbandonPlan } from '../batches/abandon-plan.ts';
import { prepareAccepted } from '../batches/accepted.ts';
import { prepareClaim } from '../batches/claim.ts';
import { prepareClaimable } from '../batches/claimable.ts';
import { prepareCollected } from '../batches/collected.ts';
import { prepareCreating } from '../batches/creating.ts';
import { prepareFinish } from '../batches/finish.ts';
import { prepareGiveBack } from '../batches/give-back.ts';
import { prepareLearn, prepareLimit } from '../batches/limits.ts';
import { preparePlan } from '../batches/plan.ts';
import { preparePolled } from '../batches/polled.ts';
import { prepareStaged } from '../batches/staged.ts';
import { prepareList, prepareShow } from '../batches/summaries.ts';
import type { OwnerLocks } from '../owners/owner-locks.ts';
import { Owners } from '../owners/owners.ts';
import { preparePrune } from '../prune/prune.ts';
import { prepareAdmit } from '../requests/admit.ts';
import { prepareBodies, prepareSpool } from '../requests/bodies.ts';
import { prepareSettled } from '../requests/settled.ts';
import { prepareWithdraw } from '../requests/withdraw.ts';
import { prepareAccount, prepareQueue } from '../schema/keys.ts';
import type { Store } from './store.ts';

/** All operations on one store; every statement is prepared once. */
export function sqliteLedger(store: Store, locks: OwnerLocks, salt: Uint8Array): Ledger {
  const owners = new Owners(store, locks);
  const newAnswers = prepareNewAnswers(store);
  const abandon = prepareAbandonPlan(store);
  const finish = prepareFinish(store, newAnswers);
  const forgetAnswers = prepareForgetAnswers(store);

  /** For what may be about requests of a plan that could not be undone when it failed. */
  const afterPlans =
    <Given extends unknown[], T>(work: (...given: Given) => Promise<T>) =>
    (...given: Given): Promise<T> =>
      abandon.isDone() ? work(...given) : abandon.rest().then(() => work(...given));
  const leave: Ledger['leave'] = async (owner) => {
    try {
      await abandon.rest();
      // Their batches are open, so if the disk is full those who claim them do it.
      await newAnswers.enterAllOf(owner).catch(() => {});
      if (store.keep === 'none') await forgetAnswers(owner);
    } finally {
      await owners.leave(owner);
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
    async join(info) {
      const owner = await owners.join(info);
      // Tidying up must not keep anybody from working.
      await owners.sweep().catch(() => {});
      return owner;
    },
    account: prepareAccount(store),
    queue: prepareQueue(store),
    limit: prepareLimit(store),
    learn: prepareLearn(store),
    admit: afterPlans(prepareAdmit(store, owners, newAnswers)),
    withdraw: afterPlans(prepareWithdraw(store)),
    spool: prepareSpool(store),
    bodies: prepareBodies(store),
    plan: afterPlans(preparePlan(store, owners, abandon)),
    staged: prepareStaged(store),
    creating: prepareCreating(store),
    accepted: prepareAccepted(store),
    refused: (lease, failure) => finish(lease, 'refused', failure),
    released: (lease) => finish(lease, 'released'),
    polled: preparePolled(store),
    collected: prepareCollected(store, newAnswers),
    ended: (lease, failure) => finish(lease, 'ended', failure),
    settled: afterPlans(prepareSettled(store)),
    claim: prepareClaim(store, owners, newAnswers, abandon),
    giveBack: prepareGiveBack(store),
    claimable: prepareClaimable(store, owners, abandon),
    changed: () => store.changed(),
    list: prepareList(store),
    show: prepareShow(store),
    prune: preparePrune(store, owners, abandon),
    leave,
    close() {
      closing ??= close();
      return closing;
    },
  };
}
