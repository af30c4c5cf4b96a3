import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';

export interface Recorded {
  readonly method: string;
  readonly path: string;
  /** The content type of the body. */
  readonly type: string | undefined;
  readonly body: string;
  /** Missing as long as it has not come to its end, and where a test passes bodies on itself. */
  reply?: { readonly status: number; readonly type: string | undefined; readonly body: string };
}

/** Passes every request on to a server and keeps what it saw. */
export interface RecordingProxy {
  readonly url: string;
  readonly requests: readonly Recorded[];
  close(): Promise<void>;
}

interface ProxyOptions {
  /** The server is asked under its own name, as gateways do: it knows of no proxy. */
  readonly rename?: boolean;
  /** How the body of a reply reaches the client. */
  readonly passBody?: (reply: IncomingMessage, outgoing: ServerResponse, path: string) => void;
  /** Changes what a reply says. */
  readonly rewrite?: (body: string) => string;
}

export async function startRecordingProxy(
  target: string,
  { rename = false, passBody, rewrite }: ProxyOptions = {},
): Promise<RecordingProxy> {
  const requests: Recorded[] = [];
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url: path = '' } = incoming;
      const host = rename ? new URL(target).host : incoming.headers.host;
      const headers = { ...incoming.headers, host };
      const body = Buffer.concat(chunks);
      const type = incoming.headers['content-type'];
      const recorded: Recorded = { method, path, type, body: body.toString('utf8') };
      requests.push(recorded);
      const passed = request(new URL(path, target), { method, headers }, (reply) => {
        if (rewrite !== undefined) return void passRewritten(reply, outgoing, rewrite);
        outgoing.writeHead(reply.statusCode ?? 500, reply.headers);
        if (passBody !== undefined) return passBody(reply, outgoing, path);
        recordReply(recorded, reply);
        reply.pipe(outgoing);
      });
      passed.on('error', () => outgoing.destroy());
      passed.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function passRewritten(
  reply: IncomingMessage,
  outgoing: ServerResponse,
  rewrite: (body: string) => string,
): Promise<void> {
  const body = Buffer.from(rewrite((await reply.setEncoding('utf8').toArray()).join('')));
  const headers = { ...reply.headers, 'content-length': String(body.length) };
  outgoing.writeHead(reply.statusCode ?? 500, headers).end(body);
}

function recordReply(recorded: Recorded, reply: IncomingMessage): void {
  const chunks: Buffer[] = [];
  const { statusCode: status = 500, headers } = reply;
  reply.on('data', (chunk: Buffer) => chunks.push(chunk));
  reply.on('end', () => {
    const body = Buffer.concat(chunks).toString('utf8');
    recorded.reply = { status, type: headers['content-type'], body };
  });
}
