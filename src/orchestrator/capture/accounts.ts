import type { Batcher } from '../../batchers/batcher.ts';
import type { HttpClient } from '../../http/client.ts';
import type { Wire } from '../../http/wire.ts';
import type { AccountId, Ledger } from '../../ledger/ledger.ts';
import type { Dict } from '../../types.ts';
import { Semaphore } from '../model/semaphore.ts';
import { accountHash, credentialHint, type SplitHeaders } from './credentials.ts';

/**
 * A credential of this process at one base: what one base has no room for must not keep another
 * waiting. The newest headers seen are the ones used: tokens rotate.
 */
export class Account {
  readonly id: AccountId;
  /** Batches under way. */
  readonly slots = new Semaphore();
  /** Creates of providers that echo nothing go out one at a time. */
  readonly creates = new Semaphore();
  /** Until then no create waits for one of another process whose outcome is unclear. */
  unclearUntil = 0;
  secrets: Dict;
  readonly #base: string;
  readonly #http: HttpClient;
  #wire: Wire | undefined;

  constructor(id: AccountId, secrets: Dict, base: string, http: HttpClient) {
    this.id = id;
    this.secrets = secrets;
    this.#base = base;
    this.#http = http;
  }

  wire(batcher: Batcher): Wire {
    const base = this.#base;
    const origins = batcher.origins(base);
    this.#wire ??= this.#http.wire({ base, origins, credentials: () => this.secrets });
    return this.#wire;
  }
}

/** The accounts of one engine, found by the base and the headers of a call. */
export class Accounts {
  readonly #atBases = new Map<string, AccountsAtBase>();
  readonly #ledger: Ledger;
  readonly #http: HttpClient;

  constructor(ledger: Ledger, http: HttpClient) {
    this.#ledger = ledger;
    this.#http = http;
  }

  known(headers: SplitHeaders, base: string): Account | undefined {
    return this.#atBases.get(base)?.byKey.get(headers.key);
  }

  async open(headers: SplitHeaders, batcher: Batcher, base: string): Promise<Account> {
    const known = this.known(headers, base);
    if (known) return known;
    const { secrets } = headers;
    const hint = credentialHint(secrets, batcher.info, process.env);
    const id = await this.#ledger.account({
      provider: batcher.info.name,
      hash: accountHash(this.#ledger.salt, secrets, batcher.info),
      ...(hint !== undefined && { hint }),
    });
    const { byKey, byId } = this.#at(base);
    // Another header may carry the same identity: one account, with the newest credential.
    const account = byId.get(id) ?? new Account(id, secrets, base, this.#http);
    account.secrets = secrets;
    byId.set(id, account);
    byKey.set(headers.key, account);
    return account;
  }

  #at(base: string): AccountsAtBase {
    const known = this.#atBases.get(base) ?? { byKey: new Map(), byId: new Map() };
    this.#atBases.set(base, known);
    return known;
  }
}

interface AccountsAtBase {
  readonly byKey: Map<string, Account>;
  readonly byId: Map<AccountId, Account>;
}
