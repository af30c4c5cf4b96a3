import { errorBody as messageError } from '../anthropic/errors.ts';
import type { Refusal } from '../server/exchange.ts';
import { newId } from '../world/random.ts';

/** `code` is the HTTP status. Calls in the wire of Anthropic are refused in its shape. */
export function errorBody(refusal: Refusal, path = ''): unknown {
  if (path.endsWith('/messages')) return messageError(refusal, newId('req_'));
  return { error: { message: refusal.message, code: refusal.status }, user_id: 'user_simulator' };
}
