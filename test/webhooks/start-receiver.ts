import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

/** What a receiver understood, after the `standardwebhooks` package has verified it. */
export interface HeardNews {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Receiver {
  readonly url: string;
  readonly heard: HeardNews[];
  /** All requests, also those it refused. */
  readonly requests: { readonly headers: IncomingHttpHeaders; readonly body: string }[];
  /** What it answers from now on; `undefined`: it takes the request and is silent. */
  answer: { status: number; headers?: Record<string, string> } | undefined;
  close(): Promise<void>;
}

export const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export async function startReceiver(): Promise<Receiver> {
  const verifier = new Webhook(secret);
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { headers } = request;
    receiver.requests.push({ headers, body });
    if (receiver.answer === undefined) return;
    const { status, headers: more } = receiver.answer;
    const news = verifier.verify(body, headers as Record<string, string>) as Omit<HeardNews, 'id'>;
    if (status < 300) receiver.heard.push({ id: String(headers['webhook-id']), ...news });
    response.writeHead(status, more).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/secret-path`,
    heard: [],
    requests: [],
    answer: { status: 204 },
    async close() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
  return receiver;
}
