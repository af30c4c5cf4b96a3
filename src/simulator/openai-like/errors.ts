import { type Exchange, Refusal } from '../server/exchange.ts';

export function errorBody(refusal: Refusal): unknown {
  const { type, code, param } = refusal.details;
  return {
    error: {
      message: refusal.message,
      type: type ?? typeOf(refusal.status),
      param: param ?? null,
      code: code ?? null,
    },
  };
}

function typeOf(status: number): string {
  if (status === 429) return 'rate_limit_exceeded';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

export function notFound({ method, path }: Exchange): Refusal {
  return new Refusal(404, `Invalid URL (${method} ${path})`);
}

export function unauthorized(keyGiven: boolean): Refusal {
  return keyGiven
    ? new Refusal(401, 'Incorrect API key provided.', { code: 'invalid_api_key' })
    : new Refusal(401, "You didn't provide an API key.");
}

export function missing(param: string): Refusal {
  return new Refusal(400, `Missing required parameter: '${param}'.`, {
    code: 'missing_required_parameter',
    param,
  });
}

export function invalid(param: string, message: string): Refusal {
  return new Refusal(400, `Invalid '${param}': ${message}`, { code: 'invalid_value', param });
}
