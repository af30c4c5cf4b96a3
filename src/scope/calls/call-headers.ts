import type { Dict } from '../../base/types.ts';
import { isRequest, readHeaders } from '../../hooks/fetch/read-call.ts';
import type { Outgoing } from './client-call.ts';

/** `undefined`: not valid headers; fetch rejects the call in its own way. */
export function headersOf({ input, init }: Outgoing): Dict | undefined {
  try {
    return readHeaders(input, init);
  } catch {
    return undefined;
  }
}

/** The call without the header `x-batchling`. */
export function withoutOurHeader({ passOn, input, init }: Outgoing): Outgoing {
  const headers = new Headers(init?.headers ?? (isRequest(input) ? input.headers : undefined));
  headers.delete('x-batchling');
  return { passOn, input, init: { ...init, headers } };
}
