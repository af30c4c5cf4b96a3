import { OwnerLostError } from '../../base/errors.ts';
import type { Ledger, OwnerId, OwnerInfo } from '../../ledger/ledger.ts';
import type { EngineOwner } from '../model/engine-context.ts';

/**
 * The owner of one engine. What a lost owner had under way is followed like that of any other owner: its
 * leases are stale, and its requests are asked for again.
 */
export class JoinedOwner implements EngineOwner {
  readonly #ledger: Ledger;
  readonly #info: OwnerInfo;
  #id: OwnerId;
  #joining: Promise<OwnerId> | undefined;

  static async join(ledger: Ledger, info: OwnerInfo): Promise<JoinedOwner> {
    return new JoinedOwner(ledger, info, await ledger.join(info));
  }

  private constructor(ledger: Ledger, info: OwnerInfo, id: OwnerId) {
    this.#ledger = ledger;
    this.#info = info;
    this.#id = id;
  }

  get id(): OwnerId {
    return this.#id;
  }

  async run<T>(work: (owner: OwnerId) => Promise<T>): Promise<T> {
    const id = this.#id;
    try {
      return await work(id);
    } catch (error) {
      if (!(error instanceof OwnerLostError)) throw error;
      return work(await this.#joinAgain(id));
    }
  }

  /** Joins once, however many steps have found that the owner is lost. */
  #joinAgain(lost: OwnerId): Promise<OwnerId> {
    if (this.#id !== lost) return Promise.resolve(this.#id);
    this.#joining ??= this.#ledger
      .join(this.#info)
      .then((id) => {
        this.#id = id;
        return id;
      })
      .finally(() => {
        this.#joining = undefined;
      });
    return this.#joining;
  }
}
