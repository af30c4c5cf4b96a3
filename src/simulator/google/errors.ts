import { type Exchange, Refusal } from '../server/exchange.ts';

/** By HTTP status: the code and the name that Google's own services use. */
const codes: Record<number, readonly [code: number, name: string]> = {
  400: [3, 'INVALID_ARGUMENT'],
  401: [16, 'UNAUTHENTICATED'],
  403: [7, 'PERMISSION_DENIED'],
  404: [5, 'NOT_FOUND'],
  409: [10, 'ABORTED'],
  429: [8, 'RESOURCE_EXHAUSTED'],
  499: [1, 'CANCELLED'],
  500: [13, 'INTERNAL'],
  501: [12, 'UNIMPLEMENTED'],
  503: [14, 'UNAVAILABLE'],
  504: [4, 'DEADLINE_EXCEEDED'],
};

/** The error of an HTTP reply: its code is the status. */
export function errorBody({ status, message, details }: Refusal): unknown {
  const { code: reason } = details;
  const name = codes[status]?.[1] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'UNKNOWN');
  return { error: { code: status, message, status: name, ...infoOf(reason) } };
}

/** The error of one request of a batch: a code of gRPC, or an HTTP status that has none. */
export function rpcError(status: number, message: string, reason?: string): object {
  return { code: codes[status]?.[0] ?? status, message, ...infoOf(reason) };
}

function infoOf(reason: string | undefined): object {
  if (reason === undefined) return {};
  const type = 'type.googleapis.com/google.rpc.ErrorInfo';
  return { details: [{ '@type': type, reason, domain: 'googleapis.com' }] };
}

export function notFound({ method, path }: Exchange): Refusal {
  return new Refusal(404, `Requested entity was not found: ${method} ${path}`);
}

/** A wrong key is a 400 here, a missing one a 403. */
export function unauthorized(keyGiven: boolean): Refusal {
  if (keyGiven) {
    const message = 'API key not valid. Please pass a valid API key.';
    return new Refusal(400, message, { code: 'API_KEY_INVALID' });
  }
  const message = "Method doesn't allow unregistered callers. Please use an API key.";
  return new Refusal(403, message);
}

/** The JSON parser of Google's services knows every field. */
export function demandKnown(value: object, known: readonly string[], at: string): void {
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const place = at === '' ? '' : ` at '${at}'`;
  const message = `Invalid JSON payload received. Unknown name "${unknown}"${place}: Cannot find field.`;
  throw new Refusal(400, message);
}
