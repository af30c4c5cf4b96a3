import type { Dict } from '../base/types.ts';
import { signedBy } from './aws/aws-identity.ts';
import type { ProviderInfo } from './provider-info.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The headers of a call with the key of the provider's usual variable; `undefined`: none is set. */
export function ownCredentials(info: ProviderInfo, environment: Environment): Dict | undefined {
  const variable = info.environment.find((name) => environment[name]?.trim());
  if (variable === undefined) return undefined;
  const key = environment[variable]?.trim() as string;
  const selected = info.accountHeaders.flatMap((header) => {
    const value = environment[info.accountEnvironment?.[header] ?? '']?.trim();
    return value ? [[header, value] as const] : [];
  });
  return { ...keyHeader(info, variable, key), ...Object.fromEntries(selected) };
}

/** How the key travels. The account does not depend on it, and a token is not taken for a key. */
export function keyHeader(info: ProviderInfo, variable: string, key: string): Dict {
  // A key of AWS signs; as a header it says who does.
  if (variable === 'AWS_ACCESS_KEY_ID') return { authorization: signedBy(key) };
  const { credentialHeaders } = info;
  const isToken =
    /TOKEN/i.test(variable) || key.startsWith('ya29.') || /^ey[^.]*\.[^.]*\./.test(key);
  const [first = 'authorization'] = credentialHeaders;
  const name = isToken && credentialHeaders.includes('authorization') ? 'authorization' : first;
  return { [name]: name === 'authorization' ? `Bearer ${key}` : key };
}
