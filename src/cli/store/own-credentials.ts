import type { Dict } from '../../base/types.ts';
import { builtInInfos } from '../../batchers/registry.ts';
import type { Environment } from '../../options/form.ts';
import { keyHeader } from './find-credential.ts';

/** The gateway's own credentials: of each provider whose usual variable is set, as headers. */
export function ownCredentials(environment: Environment): ReadonlyMap<string, Dict> {
  const found = new Map<string, Dict>();
  for (const info of builtInInfos) {
    const variable = info.environment.find((name) => environment[name]?.trim());
    if (variable === undefined) continue;
    const key = environment[variable]?.trim() as string;
    const selected = info.accountHeaders.flatMap((header) => {
      const value = environment[info.accountEnvironment?.[header] ?? '']?.trim();
      return value ? [[header, value] as const] : [];
    });
    found.set(info.name, { ...keyHeader(info, variable, key), ...Object.fromEntries(selected) });
  }
  return found;
}
