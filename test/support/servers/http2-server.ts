import http2, {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type ClientSessionRequestOptions,
} from 'node:http2';
import { chatRequest } from '../ask.ts';

/** Where chat completions are asked for: what the simulator's `/v1` is below. */
export const chatPath = '/openai/v1/chat/completions';

export function post(
  session: ClientHttp2Session,
  prompt: string,
  more: object = {},
  options?: ClientSessionRequestOptions,
): ClientHttp2Stream {
  const { body, headers } = chatRequest(prompt);
  const all = { ...headers, ...more, ':method': 'POST', ':path': chatPath };
  const stream = session.request(all, options);
  return stream.end(body);
}

export async function read(stream: ClientHttp2Stream) {
  const answered = new Promise<http2.IncomingHttpHeaders>((resolve, reject) => {
    stream.once('response', resolve);
    stream.once('error', reject);
    stream.once('close', () => reject(new Error('closed without an answer')));
  });
  const headers = await answered;
  let text = '';
  for await (const piece of stream) text += String(piece);
  return { status: headers[':status'], source: headers['x-batchling-source'], text };
}

/** A server of HTTP/2 that counts its connections. */
export async function startServer(onRequest: (path: string, body: string) => string) {
  let connections = 0;
  const server = http2.createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => {
      body += piece;
    });
    request.on('end', () => response.end(onRequest(request.url, body)));
  });
  server.on('session', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    origin: `http://127.0.0.1:${port}`,
    connections: () => connections,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
