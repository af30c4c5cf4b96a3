import { field, text } from '../../base/json.ts';
import type { Answer } from '../../base/types.ts';
import { type RpcStatus, rpcStatus, rpcStatusFor } from '../shared/rpc-status.ts';

/** An error of one request or of a batch, as the answer that a call outside of a batch would have had. */
export function errorAnswer(error: unknown): Answer {
  const { status, name } = statusOf(field(error, 'code'));
  const message = text(field(error, 'message')) ?? 'The provider gave no reason.';
  const details = field(error, 'details');
  const told = {
    code: status,
    message,
    status: text(field(error, 'status')) ?? name,
    ...(Array.isArray(details) && details.length > 0 && { details }),
  };
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ error: told }),
  };
}

/** Codes of gRPC are small numbers; what is larger is an HTTP status. */
function statusOf(code: unknown): RpcStatus {
  if (!Number.isInteger(code) || (code as number) < 1) return rpcStatusFor(500);
  const number = code as number;
  if (number <= 16) return rpcStatus(number);
  return rpcStatusFor(number >= 400 && number <= 599 ? number : 500);
}
