import type { Agent, ClientRequest, IncomingMessage } from 'node:http';

export interface Received {
  readonly status: number | undefined;
  readonly message: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Waits for the response to a request, to its end. */
export function received(request: ClientRequest): Promise<Received> {
  return new Promise((resolve, reject) => {
    request.once('error', reject);
    request.once('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.once('error', reject);
      response.once('end', () => {
        const { statusCode: status, statusMessage: message, headers } = response;
        resolve({ status, message, headers, body });
      });
    });
  });
}

/** The names of the events of a request, in their order, from the moment of the call. */
export function eventsOf(request: ClientRequest): string[] {
  const events: string[] = [];
  const names = ['socket', 'finish', 'continue', 'response', 'timeout', 'abort', 'error', 'close'];
  for (const name of names) request.on(name, () => events.push(name));
  return events;
}

/** What the agent of a request has on its books for that host: sockets, requests, free sockets. */
export function booksOf(request: ClientRequest): number[] {
  const { sockets, requests, freeSockets } = (request as ClientRequest & { agent: Agent }).agent;
  const host = String(request.getHeader('host'));
  const isHost = (name: string) => name.startsWith(host.includes(':') ? host : `${host}:`);
  return [sockets, requests, freeSockets].map((book) => Object.keys(book).filter(isHost).length);
}
