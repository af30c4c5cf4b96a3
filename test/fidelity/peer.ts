import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createSecureServer } from 'node:tls';
import { certificate, certificateKey } from './certificate.ts';

/** Called with each piece; `text` is what has come since the last answer. */
export type Reaction = (socket: Socket, text: string, answered: () => void) => void;

/** A server that keeps every byte and answers as the step says. */
export interface Peer {
  readonly url: string;
  readonly port: number;
  /** What came over each connection, in the order in which they were opened. */
  readonly bytes: string[];
  close(): Promise<void>;
}

export async function startPeer(reaction: Reaction, secure = false): Promise<Peer> {
  const bytes: string[] = [];
  const sockets = new Set<Socket>();
  const onConnection = (socket: Socket) => {
    const index = bytes.push('') - 1;
    let text = '';
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (piece: Buffer) => {
      const more = piece.toString('latin1');
      bytes[index] += more;
      text += more;
      reaction(socket, text, () => {
        text = '';
      });
    });
  };
  const server: Server = secure
    ? createSecureServer({ cert: certificate, key: certificateKey }, onConnection)
    : createServer(onConnection);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `${secure ? 'https' : 'http'}://127.0.0.1:${port}/v1/chat`,
    port,
    bytes,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Runs a step against a peer; its port is not part of what is compared. */
export async function against(
  reaction: Reaction,
  run: (peer: Peer) => Promise<unknown>,
  secure = false,
): Promise<unknown> {
  const peer = await startPeer(reaction, secure);
  try {
    const seen = await run(peer);
    const text = JSON.stringify({ seen, bytes: peer.bytes });
    return JSON.parse(text.replaceAll(`:${peer.port}`, ':PORT'));
  } finally {
    await peer.close();
  }
}

/** Answers each request once it is there, by its end. */
export function answer(end: string, ...pieces: string[]): Reaction {
  return (socket, text, answered) => {
    if (!text.endsWith(end)) return;
    answered();
    for (const piece of pieces) socket.write(piece, 'latin1');
  };
}

export function ok(body: string, ...headers: string[]): string {
  const lines = ['HTTP/1.1 200 OK', `Content-Length: ${body.length}`, ...headers];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
