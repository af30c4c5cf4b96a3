import type { EventEmitter } from 'node:events';
import http2, {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';

export type OnStream = (stream: ServerHttp2Stream, body: string, path: string) => void;

export interface Place {
  readonly session: ClientHttp2Session;
  /** What the session has told, in its order. */
  readonly told: string[];
  post(headers?: Record<string, string>): ClientHttp2Stream;
  /** Breaks every connection that the server has. */
  breakConnections(): void;
  connections(): number;
}

export const target = { ':method': 'POST', ':path': '/v1/chat' };

/** Runs a step against a server that answers whole requests. */
export async function against(onStream: OnStream, run: (place: Place) => Promise<unknown>) {
  const server = http2.createServer();
  const ended: Promise<unknown>[] = [];
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => void sockets.push(socket));
  server.on('session', (session) => {
    session.on('error', () => undefined);
    ended.push(new Promise((resolve) => session.once('close', resolve)));
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    if (headers.expect !== undefined) stream.additionalHeaders({ ':status': 100 });
    const pieces: Buffer[] = [];
    stream.on('data', (piece: Buffer) => void pieces.push(piece));
    stream.on('end', () =>
      onStream(stream, Buffer.concat(pieces).toString(), String(headers[':path'])),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const session = http2.connect(`http://127.0.0.1:${port}`);
  const told = listen(session, ['error', 'goaway', 'frameError', 'close']);
  const post = (headers = {}) =>
    session.request({ ...target, 'content-type': 'text/plain', ...headers });
  try {
    const breakConnections = () => {
      for (const socket of sockets) socket.resetAndDestroy();
    };
    const connections = () => sockets.length;
    const seen = await run({ session, told, post, breakConnections, connections });
    return JSON.parse(JSON.stringify({ seen, told }).replaceAll(`:${port}`, ':PORT'));
  } finally {
    session.destroy();
    await Promise.all(ended);
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}

export function listen(emitter: EventEmitter, names: readonly string[]): string[] {
  const told: string[] = [];
  for (const name of names) {
    emitter.on(name, (value: unknown) => {
      const { code, message } = (value ?? {}) as { code?: unknown; message?: unknown };
      told.push(value instanceof Error ? `${name} ${code} ${message}` : name);
    });
  }
  return told;
}

/** Everything that a client sees of one stream. */
export async function seenOf(stream: ClientHttp2Stream): Promise<unknown> {
  const told = listen(stream, ['aborted', 'end', 'error', 'frameError', 'close', 'timeout']);
  let head: object = {};
  let trailers: object = {};
  let text = '';
  stream.on('response', (headers) => {
    const { date: _date, ...others } = headers;
    head = others;
  });
  stream.on('trailers', (headers) => {
    trailers = headers;
  });
  stream.on('data', (piece: Buffer) => {
    text += piece.toString();
  });
  await new Promise((resolve) => stream.once('close', resolve));
  const { rstCode, destroyed, aborted } = stream;
  const told2 = text.length > 100 ? `${text.length} bytes` : text;
  return { head, trailers, text: told2, told, rstCode, destroyed, aborted };
}

export const echo: OnStream = (stream, body, path) => {
  stream.respond({ ':status': 200, 'x-path': path, 'set-cookie': ['a=1', 'b=2'] });
  stream.end(body);
};

/** The code of the error that this throws. */
export function codeOf(call: () => unknown): unknown {
  try {
    call();
    return 'nothing was thrown';
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}
