import type { Batcher } from '../../batchers/batcher.ts';
import type { ProviderInfo } from '../../batchers/provider-info.ts';
import { Semaphore } from '../../concurrency/semaphore.ts';
import type { HttpClient } from '../../http/client.ts';
import type { Credentials, Wire } from '../../http/wire.ts';
import type { AccountId, Ledger } from '../../ledger/ledger.ts';
import {
  accountHash,
  type CredentialFunction,
  credentialHint,
  type SplitHeaders,
  type TokenTrust,
  withToken,
} from './credentials.ts';

/**
 * An account that this process uses, at one base: what one base has no room for must not keep another
 * waiting. Its credentials may rotate: those of the newest call are used.
 */
export class Account {
  readonly id: AccountId;
  /** Keyed hash of the identity behind its credentials. */
  readonly hash: Uint8Array;
  /** Batches under way. */
  readonly slots = new Semaphore();
  /** Ordinary calls under way. */
  readonly calls = new Semaphore();
  /** Creates of providers that echo nothing go out one at a time. */
  readonly creates = new Semaphore();
  /** Up to this time no create waits for a create of another process whose outcome is unclear. */
  unclearUntil = 0;
  /** Why no batches can be sent there, once that is known. */
  unserved: string | undefined;
  /** A batch was accepted there: it does have a batch API, whatever it says later. */
  hasServed = false;
  /** Calls are signed: what their clients have made is good for minutes only. */
  isSigned = false;
  /** The credentials of the newest call. */
  credentials: Credentials;
  /** The user's function for credentials that change; asked for every request to the provider. */
  credential: CredentialFunction | undefined;
  readonly #base: string;
  readonly #http: HttpClient;
  #wire: Wire | undefined;

  constructor(
    { id, hash }: Pick<Account, 'id' | 'hash'>,
    credentials: Credentials,
    base: string,
    http: HttpClient,
  ) {
    this.id = id;
    this.hash = hash;
    this.credentials = credentials;
    this.#base = base;
    this.#http = http;
  }

  wire(batcher: Batcher): Wire {
    this.#wire ??= openWire(this.#http, batcher, this.#base, this);
    return this.#wire;
  }
}

/** A wire to a base with credentials that may change. */
export function openWire(
  http: HttpClient,
  batcher: Batcher,
  base: string,
  holder: Pick<Account, 'credentials'> & Partial<Pick<Account, 'credential'>>,
): Wire {
  return http.wire({
    base,
    origins: batcher.origins(base),
    credentials: () => holder.credentials,
    refresh: async (captured, request) =>
      (await batcher.sign?.(request, captured, holder.credential)) ??
      refreshed(captured, holder.credential, batcher.info),
    signs: batcher.sign !== undefined,
  });
}

async function refreshed(
  captured: Credentials,
  credential: CredentialFunction | undefined,
  info: ProviderInfo,
): Promise<Credentials> {
  if (credential === undefined) return captured;
  const token: unknown = await credential();
  if (typeof token === 'string' && token !== '') return withToken(captured, info, token);
  const kind = token === '' ? 'an empty text' : `a value of type ${typeof token}`;
  throw new TypeError(`providers.${info.name}.credential returned ${kind} instead of a token.`);
}

/** The accounts of one engine, found by the base and the headers of a call. */
export class Accounts {
  readonly #atBases = new Map<string, AccountsAtBase>();
  readonly #ledger: Ledger;
  readonly #http: HttpClient;
  readonly #trust: TokenTrust;

  constructor(ledger: Ledger, http: HttpClient, trust: TokenTrust) {
    this.#ledger = ledger;
    this.#http = http;
    this.#trust = trust;
  }

  known(headers: SplitHeaders, base: string): Account | undefined {
    return this.#atBases.get(base)?.byKey.get(headers.key);
  }

  async open(headers: SplitHeaders, batcher: Batcher, base: string): Promise<Account> {
    const known = this.known(headers, base);
    if (known) return known;
    const hint = credentialHint(headers, batcher.info, process.env);
    const hash = accountHash(this.#ledger.salt, headers, batcher.info, this.#trust);
    const id = await this.#ledger.account({
      provider: batcher.info.name,
      hash,
      ...(hint !== undefined && { hint }),
    });
    const { byKey, byId } = this.#at(base);
    // Another header or the query may carry the same identity: one account, with the newest credential.
    const credentials = { headers: headers.secrets, query: headers.query };
    const account = byId.get(id) ?? new Account({ id, hash }, credentials, base, this.#http);
    account.credentials = credentials;
    account.credential = headers.credential;
    account.isSigned = headers.isSigned;
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
