import { type Exchange, Refusal } from '../server/exchange.ts';

/** Errors have three shapes: the gateway's before the API, the framework's for bad fields, the API's own. */
export function errorBody({ status, message, details }: Refusal): unknown {
  if (status === 401) return { message, request_id: 'simulated' };
  if (status === 422) {
    const loc = ['body', ...(details.param === undefined ? [] : [details.param])];
    return { detail: [{ type: details.code ?? 'value_error', loc, msg: message, input: null }] };
  }
  const type = details.type ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  return {
    object: 'error',
    message,
    type,
    param: details.param ?? null,
    code: details.code ?? null,
  };
}

export function notFound(_exchange: Exchange): Refusal {
  return new Refusal(404, 'no Route matched with those values');
}

export function unauthorized(_keyGiven: boolean): Refusal {
  return new Refusal(401, 'Unauthorized');
}

/** A field of the request is wrong. */
export function invalid(param: string, message: string): Refusal {
  return new Refusal(422, message, { param });
}
