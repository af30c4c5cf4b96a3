import { type Exchange, Refusal } from '../server/exchange.ts';

const types: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

export function errorBody(refusal: Refusal, requestId: string): unknown {
  const { status, message, details } = refusal;
  const type =
    details.type ?? types[status] ?? (status < 500 && status >= 400 ? types[400] : 'api_error');
  const { code } = details;
  const error = { type, message, ...(code !== undefined && { details: { error_code: code } }) };
  return { type: 'error', error, request_id: requestId };
}

export function notFound({ method, path }: Exchange): Refusal {
  return new Refusal(404, `Not found: ${method} ${path}`);
}

export function unauthorized(keyGiven: boolean): Refusal {
  return new Refusal(401, keyGiven ? 'invalid x-api-key' : 'x-api-key header is required');
}

/** Tokens of OAuth, unlike keys, are taken on calls with this beta only. */
const tokenBeta = 'oauth-2025-04-20';

export function demandTokenBeta({ headers }: Exchange): void {
  const isToken = String(headers.authorization).startsWith('Bearer sk-ant-oat');
  const betas = String(headers['anthropic-beta']).split(',');
  if (!isToken || betas.some((beta) => beta.trim() === tokenBeta)) return;
  throw new Refusal(401, 'OAuth authentication is currently not supported.');
}

/** The version is part of every call; without it not even a list is served. */
export function demandVersion({ headers }: Exchange): string {
  const version = headers['anthropic-version'];
  if (typeof version !== 'string') {
    throw new Refusal(400, 'anthropic-version: header is required');
  }
  if (!/^\d{4}-\d{2}-\d{2}$/.test(version)) {
    throw new Refusal(400, `anthropic-version: "${version}" is not a valid version`);
  }
  return version;
}

/** Claude Platform on AWS knows no workspace by default. */
export function demandWorkspace({ headers }: Exchange): void {
  if (!headers['anthropic-workspace-id']) {
    throw new Refusal(400, 'anthropic-workspace-id: header is required');
  }
}
