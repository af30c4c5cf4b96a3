import type { Answer } from '../../types.ts';
import { field, text } from '../shared/outcomes.ts';

/** The codes of google.rpc.Code from 1 on: their names, and the HTTP status that each stands for. */
const codes: readonly (readonly [name: string, status: number])[] = [
  ['CANCELLED', 499],
  ['UNKNOWN', 500],
  ['INVALID_ARGUMENT', 400],
  ['DEADLINE_EXCEEDED', 504],
  ['NOT_FOUND', 404],
  ['ALREADY_EXISTS', 409],
  ['PERMISSION_DENIED', 403],
  ['RESOURCE_EXHAUSTED', 429],
  ['FAILED_PRECONDITION', 400],
  ['ABORTED', 409],
  ['OUT_OF_RANGE', 400],
  ['UNIMPLEMENTED', 501],
  ['INTERNAL', 500],
  ['UNAVAILABLE', 503],
  ['DATA_LOSS', 500],
  ['UNAUTHENTICATED', 401],
];

/** The name of the usual code for a status. */
function nameOf(status: number): string {
  const usual = ['INVALID_ARGUMENT', 'INTERNAL', 'ABORTED'];
  const found = codes.filter(([, other]) => other === status).map(([name]) => name);
  return found.find((name) => usual.includes(name)) ?? found[0] ?? 'UNKNOWN';
}

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
function statusOf(code: unknown): { status: number; name: string } {
  const known = typeof code === 'number' ? codes[code - 1] : undefined;
  if (known !== undefined) return { name: known[0], status: known[1] };
  const isStatus = Number.isInteger(code) && (code as number) >= 400 && (code as number) <= 599;
  const status = isStatus ? (code as number) : 500;
  return { status, name: nameOf(status) };
}
