import { isRequest, readHeaders } from '../hooks/fetch/read-call.ts';
import type { Dict } from '../types.ts';
import type { Outgoing } from './client-call.ts';

/** `undefined`: they are none, and fetch itself refuses them in its own way. */
export function headersOf({ input, init }: Outgoing): Dict | undefined {
  try {
    return readHeaders(input, init);
  } catch {
    return undefined;
  }
}

/** The call as it is, less the header that asked for it. */
export function withoutOurHeader({ passOn, input, init }: Outgoing): Outgoing {
  const headers = new Headers(init?.headers ?? (isRequest(input) ? input.headers : undefined));
  headers.delete('x-batchling');
  return { passOn, input, init: { ...init, headers } };
}
