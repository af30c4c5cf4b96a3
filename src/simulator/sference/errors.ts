import { type Exchange, Refusal } from '../server/exchange.ts';

export function errorBody({ status, message }: Refusal) {
  return { status_code: status, detail: message, extra: null };
}

export function notFound({ method, path }: Exchange): Refusal {
  return new Refusal(404, `Not Found: ${method} ${path}`);
}

export function unauthorized(keyGiven: boolean): Refusal {
  return new Refusal(401, keyGiven ? 'Invalid API key' : 'Not authenticated');
}
