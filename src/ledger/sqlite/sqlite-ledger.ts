import type { Ledger } from '../ledger.ts';
import { prepareAbandonPlan } from './abandon-plan.ts';
import { prepareAccepted } from './accepted.ts';
import { prepareAdmit } from './admit.ts';
import { prepareBodies, prepareSpool } from './bodies.ts';
import { prepareClaim } from './claim.ts';
import { prepareClaimable } from './claimable.ts';
import { prepareCollected } from './collected.ts';
import { prepareCreating } from './creating.ts';
import { prepareFinish } from './finish.ts';
import { prepareForgetAnswers } from './forget-answers.ts';
import { prepareGiveBack } from './give-back.ts';
import { prepareAccount, prepareQueue } from './keys.ts';
import { prepareLearn, prepareLimit } from './limits.ts';
import { prepareNewAnswers } from './new-answers.ts';
import type { OwnerLocks } from './owner-locks.ts';
import { Owners } from './owners.ts';
import { preparePlan } from './plan.ts';
import { preparePolled } from './polled.ts';
import { preparePrune } from './prune.ts';
import { prepareSettled } from './settled.ts';
import { prepareStaged } from './staged.ts';
import type { Store } from './store.ts';
import { prepareList, prepareShow } from './summaries.ts';
import { prepareWithdraw } from './withdraw.ts';

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
