import { GatewayError } from '../../gateway/gateway-error.ts';

/** What a reader chooses by its name. The names of `Object` itself, such as `toString`, are none of them. */
export function oneOf<T>(choices: Readonly<Record<string, T>>, name: string, what: string): T {
  const chosen = Object.hasOwn(choices, name) ? choices[name] : undefined;
  if (chosen !== undefined) return chosen;
  const names = Object.keys(choices).join(', ');
  throw new GatewayError('bad_request', `There is no ${what} "${name}": choose among ${names}.`);
}
