import { createServer, type Socket } from 'node:net';

/** A server that keeps the bytes of every request and answers each with an empty list. */
export interface RawServer {
  readonly port: number;
  /** The bytes of the requests since the last time, in the order of their arrival. */
  take(): string[];
  close(): Promise<void>;
}

const body = '{"object":"list","data":[]}';
const reply = [
  'HTTP/1.1 200 OK',
  'content-type: application/json',
  `content-length: ${body.length}`,
  'connection: close',
  '',
  body,
].join('\r\n');

export async function startRawServer(): Promise<RawServer> {
  let requests: string[] = [];
  const server = createServer((socket) => {
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      received += chunk;
      if (isWhole(received)) answer(socket, received);
    });
    socket.on('error', () => undefined);
  });
  function answer(socket: Socket, received: string): void {
    requests.push(received);
    socket.end(reply);
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    take() {
      const taken = requests;
      requests = [];
      return taken;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function isWhole(received: string): boolean {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const head = received.slice(0, end);
  const length = /^content-length: (\d+)$/im.exec(head)?.[1];
  if (length !== undefined) return received.length >= end + 4 + Number(length);
  return !/^transfer-encoding: chunked$/im.test(head) || received.endsWith('\r\n0\r\n\r\n');
}
