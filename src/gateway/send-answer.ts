import type { ServerResponse } from 'node:http';
import type { RawAnswer } from '../hooks/border.ts';
import { GatewayError } from './gateway-error.ts';
import type { Route } from './request/routes.ts';

export function sendAnswer(response: ServerResponse, { status, headers, body }: RawAnswer): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** The answer is not there yet: where and when to ask for it. */
export function sendWaiting(response: ServerResponse, id: string): void {
  const location = `/requests/${id}`;
  sendAnswer(response, {
    status: 202,
    headers: { 'content-type': 'application/json', 'retry-after': '10', location },
    body: JSON.stringify({ object: 'batchling.request', status: 'waiting', location }),
  });
}

/** What clients get that wait while the gateway leaves: their requests stay, and they should come back. */
export async function leavingAnswer({ place }: Route): Promise<RawAnswer> {
  const error = new GatewayError(
    'leaving',
    'The gateway is being stopped. The request stays in the ledger: ask again for its answer.',
  );
  return {
    status: error.status,
    headers: {
      'content-type': 'application/json',
      'retry-after': '5',
      'x-should-retry': 'true',
      connection: 'close',
    },
    body: await error.body(place.registered),
  };
}
