import type { Batcher } from '../batchers/batcher.ts';
import type { HttpClient } from '../http/client.ts';
import type { Wire } from '../http/wire.ts';
import type { AccountId, Ledger } from '../ledger/ledger.ts';
import type { Dict } from '../types.ts';
import { accountHash, credentialHint, type SplitHeaders } from './account.ts';
import { Slots } from './slots.ts';

/** A credential of this process. The newest headers seen are the ones used: tokens rotate. */
export class Account {
  readonly id: AccountId;
  /** Batches under way. */
  readonly slots = new Slots();
  /** Creates of providers that echo nothing go out one at a time. */
  readonly creates = new Slots();
  /** Until then no create waits for one of another process whose outcome is unclear. */
  unclearUntil = 0;
  secrets: Dict;
  readonly #wires = new Map<string, Wire>();
  readonly #http: HttpClient;

  constructor(id: AccountId, secrets: Dict, http: HttpClient) {
    this.id = id;
    this.secrets = secrets;
    this.#http = http;
  }

  wire(batcher: Batcher, base: string): Wire {
    let wire = this.#wires.get(base);
    if (wire === undefined) {
      const origins = batcher.origins(base);
      wire = this.#http.wire({ base, origins, credentials: () => this.secrets });
      this.#wires.set(base, wire);
    }
    return wire;
  }
}

/** The accounts of one engine, found by the headers of a call. */
export class Accounts {
  readonly #byKey = new Map<string, Account>();
  readonly #byId = new Map<AccountId, Account>();
  readonly #ledger: Ledger;
  readonly #http: HttpClient;

  constructor(ledger: Ledger, http: HttpClient) {
    this.#ledger = ledger;
    this.#http = http;
  }

  known(headers: SplitHeaders): Account | undefined {
    return this.#byKey.get(headers.key);
  }

  async open(headers: SplitHeaders, batcher: Batcher): Promise<Account> {
    const known = this.#byKey.get(headers.key);
    if (known) return known;
    const { secrets } = headers;
    const hint = credentialHint(secrets, batcher.info, process.env);
    const id = await this.#ledger.account({
      provider: batcher.info.name,
      hash: accountHash(this.#ledger.salt, secrets, batcher.info),
      ...(hint !== undefined && { hint }),
    });
    // Another header may carry the same identity: one account, with the newest credential.
    const account = this.#byId.get(id) ?? new Account(id, secrets, this.#http);
    account.secrets = secrets;
    this.#byId.set(id, account);
    this.#byKey.set(headers.key, account);
    return account;
  }
}
