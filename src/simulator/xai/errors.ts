import { type Exchange, Refusal } from '../server/exchange.ts';

const codes: Record<number, string> = {
  400: 'Client specified an invalid argument',
  401: 'The caller does not have valid authentication credentials',
  403: 'The caller does not have permission to execute the specified operation',
  404: 'Some requested entity was not found',
  412: 'The system is not in a state required for the operation',
  429: 'Some resource has been exhausted',
  503: 'The service is currently unavailable',
};

/** Two texts: what kind of error it is, and what happened. */
export function errorBody({ status, message, details }: Refusal) {
  return { code: details.code ?? codes[status] ?? 'Internal error', error: message };
}

export function notFound({ method, path }: Exchange): Refusal {
  return new Refusal(404, `Not found: ${method} ${path}`);
}

/** A wrong key is an invalid argument. */
export function unauthorized(keyGiven: boolean): Refusal {
  return keyGiven
    ? new Refusal(400, 'Incorrect API key provided. Get one at the console.')
    : new Refusal(401, 'No credentials were provided.');
}
