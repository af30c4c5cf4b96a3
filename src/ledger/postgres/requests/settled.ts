import type { Ledger } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import { inSlices, settlementSize } from '../../sql/slices.ts';
import { addCostsOfCalls } from '../batches/daily-costs.ts';
import { AT_ONCE, type Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';
import { settleAll } from './settle.ts';

export function prepareWithdraw(store: Store, owners: Owners): Ledger['withdraw'] {
  return async (owner, requests) => {
    await store.write(
      async (transaction) => {
        await owners.require(transaction, owner);
        await transaction.run(
          `WITH gone AS (
             DELETE FROM request
             WHERE id = ANY($1::bigint[]) AND owner = $2 AND state = ${REQUEST.admitted} RETURNING id
           )
           DELETE FROM body USING gone WHERE body.request = gone.id`,
          [requests, owner],
        );
      },
      { notify: true },
    );
  };
}

/** The place in its batch is free in a request without one: 1 says that it is on the wire as an ordinary call. */
export function prepareMarkSent(store: Store, owners: Owners): Ledger['markSent'] {
  return async (owner, requests, sent) => {
    await store.write(async (transaction) => {
      await owners.require(transaction, owner);
      await transaction.run(
        `UPDATE request SET seq = $3
         WHERE id = ANY($1::bigint[]) AND owner = $2 AND state = ${REQUEST.admitted}`,
        [requests, owner, sent ? 1 : null],
      );
    });
  };
}

export function prepareSettled(store: Store, owners: Owners): Ledger['settled'] {
  const condition = `request.owner = $1 AND request.state = ${REQUEST.admitted}`;
  return (owner, settlements, spent = []) =>
    inSlices(
      settlements,
      (slice, isLast) =>
        store.write(
          async (transaction) => {
            await owners.require(transaction, owner);
            const allowed = { condition, value: owner };
            await settleAll(transaction, slice, allowed, owner, store.keep === 'all');
            if (isLast) await addCostsOfCalls(transaction, spent);
          },
          { notify: true },
        ),
      { ...AT_ONCE, sizeOf: settlementSize },
    );
}
