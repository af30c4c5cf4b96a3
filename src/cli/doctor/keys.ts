import { builtInInfos } from '../../batchers/registry.ts';
import type { Environment } from '../../options/form.ts';
import { unknownVariables } from '../../options/unknown-variables.ts';
import type { Finding } from './finding.ts';

/** Which variables hold keys, by name only. */
export function keys(environment: Environment): Finding[] {
  const found = builtInInfos.flatMap(({ name, environment: variables }) => {
    const set = variables.filter((variable) => environment[variable]?.trim());
    return set.length > 0 ? [`${name} (${set.join(', ')})`] : [];
  });
  const strange = unknownVariables(environment).map(
    (text): Finding => ({ level: 'warn', about: 'variables', text }),
  );
  const text = found.length > 0 ? found.join(', ') : 'no key of a provider is in the environment';
  return [{ level: found.length > 0 ? 'ok' : 'warn', about: 'keys', text }, ...strange];
}
