/** A status of gRPC: its name, and the HTTP status that stands for it. */
export interface RpcStatus {
  readonly name: string;
  readonly status: number;
}

/** The codes in the order of their numbers, as google/rpc/code.proto lists them. */
const statuses: readonly RpcStatus[] = [
  { name: 'OK', status: 200 },
  { name: 'CANCELLED', status: 499 },
  { name: 'UNKNOWN', status: 500 },
  { name: 'INVALID_ARGUMENT', status: 400 },
  { name: 'DEADLINE_EXCEEDED', status: 504 },
  { name: 'NOT_FOUND', status: 404 },
  { name: 'ALREADY_EXISTS', status: 409 },
  { name: 'PERMISSION_DENIED', status: 403 },
  { name: 'RESOURCE_EXHAUSTED', status: 429 },
  { name: 'FAILED_PRECONDITION', status: 400 },
  { name: 'ABORTED', status: 409 },
  { name: 'OUT_OF_RANGE', status: 400 },
  { name: 'UNIMPLEMENTED', status: 501 },
  { name: 'INTERNAL', status: 500 },
  { name: 'UNAVAILABLE', status: 503 },
  { name: 'DATA_LOSS', status: 500 },
  { name: 'UNAUTHENTICATED', status: 401 },
];

/**
 * What the number of a gRPC status means; one that nobody knows is `UNKNOWN`.
 *
 * @example
 * rpcStatus(8); // { name: 'RESOURCE_EXHAUSTED', status: 429 }
 */
export function rpcStatus(code: number): RpcStatus {
  return statuses[code] ?? (statuses[2] as RpcStatus);
}

/**
 * The gRPC status that usually stands behind an HTTP status.
 *
 * @example
 * rpcStatusFor(429); // { name: 'RESOURCE_EXHAUSTED', status: 429 }
 */
export function rpcStatusFor(status: number): RpcStatus {
  const usual = ['INVALID_ARGUMENT', 'INTERNAL', 'ABORTED'];
  const found = statuses.filter((one) => one.status === status);
  const known = found.find(({ name }) => usual.includes(name)) ?? found[0];
  return known ?? { name: 'UNKNOWN', status };
}
