import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer } from '../../../src/base/types.ts';

/** A server that gives one answer to everything. */
export interface AnswerServer {
  readonly url: string;
  answer: Answer;
  close(): Promise<void>;
}

export async function startAnswerServer(): Promise<AnswerServer> {
  // With the usual five seconds, a client on a busy machine would meet a connection that is closed.
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const { status, headers, body } = answering.answer;
    request.resume().on('end', () => response.writeHead(status, headers).end(body));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const answering: AnswerServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: { status: 404, headers: {}, body: '' },
    async close() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
  return answering;
}

/** A 200 with this JSON, as a batch line gives it. */
export function jsonAnswer(json: unknown): Answer {
  const headers = { 'content-type': 'application/json' };
  return { status: 200, headers, body: JSON.stringify(json) };
}
