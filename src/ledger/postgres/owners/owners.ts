import type { OwnerId, OwnerInfo } from '../../ledger.ts';
import { ownerLost } from '../../lost.ts';
import { storedTroubles } from '../../sql/owner-info.ts';
import type { Client } from '../connection/driver.ts';
import type { Session, Store } from '../connection/store.ts';
import { ALIVE } from './alive.ts';

/** The share of a lease that has to be left: a later renewal could end after others have seen the lease end. */
const LEFT_FOR_RENEWAL = 1 / 24;

/** A program that has all its answers does not wait long for a server in order to say goodbye. */
const LEAVE_PATIENCE = 10_000;

/**
 * The owners of the ledger. One lives while its lease, in the server's time, has not ended; an owner that is
 * past its lease is gone for good, because others may have taken its work.
 */
export class Owners {
  readonly #store: Store;
  /** Milliseconds. */
  readonly lease: number;
  readonly #joined = new Set<OwnerId>();

  constructor(store: Store, lease: number) {
    this.#store = store;
    this.lease = lease;
  }

  /** Durable: after a crash of the server no other owner may get the same id. */
  async join({ run, host, pid }: OwnerInfo): Promise<OwnerId> {
    const id = await this.#store.write(
      async ({ rows, now }) => {
        const [row] = await rows<{ id: OwnerId }>(
          `INSERT INTO owner (run, host, pid, joined_at, lease_until)
           VALUES ($1, $2, $3, $4, clock_timestamp() + $5 * interval '1 millisecond') RETURNING id`,
          [run, host, pid, now, this.lease],
        );
        return (row as { id: OwnerId }).id;
      },
      { durable: true },
    );
    this.#joined.add(id);
    return id;
  }

  async troubled(id: OwnerId, troubles: readonly string[]): Promise<void> {
    await this.#store.write(({ run }) =>
      run('UPDATE owner SET troubles = $1 WHERE id = $2', [storedTroubles(troubles), id]),
    );
  }

  /** The heartbeat of all owners of this process. */
  async renew(client: Client): Promise<void> {
    if (this.#joined.size === 0) return;
    await client.query(
      `UPDATE owner SET lease_until = clock_timestamp() + $1 * interval '1 millisecond'
       WHERE id = ANY($2::bigint[]) AND closed_at IS NULL
         AND lease_until > clock_timestamp() + $3 * interval '1 millisecond'`,
      [this.lease, [...this.#joined], this.lease * LEFT_FOR_RENEWAL],
    );
  }

  /** `finished: false`: its lease ends, and it counts as killed. */
  async leave(id: OwnerId, finished: boolean): Promise<void> {
    if (!this.#joined.delete(id)) return;
    try {
      await this.#store.write(
        async ({ run, now }) => {
          if (this.#store.keep === 'none' && finished) await run(FORGET_ANSWERS, [id]);
          await run(
            `UPDATE owner SET closed_at = CASE WHEN $2 THEN $3::bigint END, lease_until = '-infinity'
             WHERE id = $1 AND closed_at IS NULL`,
            [id, finished, now],
          );
        },
        { notify: true, patience: LEAVE_PATIENCE },
      );
    } catch (error) {
      this.#store.log('note in the ledger that this owner has left', error);
      // A server that is away is no reason to fail a program that has all its answers: once its lease
      // has ended this owner counts as killed, and others can continue its batches.
    }
  }

  joined(): OwnerId[] {
    return [...this.#joined];
  }

  /** The run of an owner that is here. */
  async require(session: Session, id: OwnerId): Promise<string> {
    const [row] = await session.rows<{ run: string; closed: boolean; alive: boolean }>(
      `SELECT run, closed_at IS NOT NULL AS closed, ${ALIVE} AS alive FROM owner WHERE id = $1`,
      [id],
    );
    if (!row) throw ownerLost(id, 'never joined');
    if (row.closed) throw ownerLost(id, 'has left');
    if (!row.alive) throw ownerLost(id, 'is counted as gone by');
    return row.run;
  }
}

const FORGET_ANSWERS = `
  DELETE FROM answer USING request
  WHERE answer.request = request.id AND request.owner = $1`;
