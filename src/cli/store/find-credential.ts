import { timingSafeEqual } from 'node:crypto';
import type { Dict } from '../../base/types.ts';
import { keyHeader } from '../../batchers/own-credentials.ts';
import type { ProviderInfo } from '../../batchers/provider-info.ts';
import type { AccountKey, Ledger } from '../../ledger/ledger.ts';
import type { Environment } from '../../options/form.ts';
import {
  accountHash,
  type SplitHeaders,
  splitHeaders,
} from '../../orchestrator/capture/credentials.ts';
import { usageError } from '../usage-error.ts';

/** Variables that the user has named for providers, by `--credential provider=VARIABLE`. */
export type NamedVariables = ReadonlyMap<string, readonly string[]>;

export function readCredentialFlags(given: readonly string[] = []): NamedVariables {
  const named = new Map<string, string[]>();
  for (const text of given) {
    const [, provider, variable] = /^([a-z][\w-]*)=([A-Za-z_]\w{0,63})$/.exec(text) ?? [];
    if (provider === undefined || variable === undefined) {
      // The message does not repeat the text, which may be a key.
      throw usageError(
        '--credential takes a provider and the NAME of an environment variable, never a key: ' +
          '--credential openai=MY_OPENAI_KEY',
      );
    }
    named.set(provider, [...(named.get(provider) ?? []), variable]);
  }
  return named;
}

/** Variables that may hold the key of this account, in the order in which they are tried. */
export function variablesFor(
  { provider, hint }: Pick<AccountKey, 'provider' | 'hint'>,
  info: ProviderInfo,
  named: NamedVariables,
): string[] {
  const hinted = hint?.startsWith('env:') ? [hint.slice('env:'.length)] : [];
  return [...new Set([...(named.get(provider) ?? []), ...hinted, ...info.environment])];
}

/**
 * The headers of a call of this account, with the key of the first variable that is the account's own.
 * A key of another account has another hash, so it is never sent.
 */
export function findCredential(
  account: AccountKey,
  { salt }: Pick<Ledger, 'salt'>,
  info: ProviderInfo,
  named: NamedVariables,
  environment: Environment,
): SplitHeaders | undefined {
  for (const variable of variablesFor(account, info, named)) {
    const key = environment[variable]?.trim();
    if (!key) continue;
    for (const selection of selections(info, environment)) {
      const headers = splitHeaders(
        { ...keyHeader(info, variable, key), ...selection },
        info,
        false,
      );
      if (timingSafeEqual(accountHash(salt, headers, info), account.hash)) return headers;
    }
  }
  return undefined;
}

/** Organisation and project are part of the account, and the program may have set them or not. */
function selections(info: ProviderInfo, environment: Environment): Dict[] {
  let found: Dict[] = [{}];
  for (const header of info.accountHeaders) {
    const value = environment[info.accountEnvironment?.[header] ?? '']?.trim();
    if (value) found = found.flatMap((one) => [{ ...one, [header]: value }, one]);
  }
  return found;
}
