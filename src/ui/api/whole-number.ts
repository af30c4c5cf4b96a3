import { GatewayError } from '../../gateway/gateway-error.ts';

/** A number of a query; `undefined`: it is not there. */
export function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new GatewayError('bad_request', `${name} must be a whole number.`);
}
