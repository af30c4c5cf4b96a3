import type { ServerResponse } from 'node:http';
import type { RawAnswer } from '../hooks/border.ts';

export function sendAnswer(response: ServerResponse, { status, headers, body }: RawAnswer): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** The answer is not there yet: where, below the root of the gateway, and when to ask for it. */
export function sendWaiting(response: ServerResponse, root: string, id: string): void {
  const location = `${root}/requests/${id}`;
  sendAnswer(response, {
    status: 202,
    headers: { 'content-type': 'application/json', 'retry-after': '10', location },
    body: JSON.stringify({ object: 'batchling.request', status: 'waiting', location }),
  });
}
