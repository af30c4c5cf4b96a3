import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '../gateway-error.ts';
import { ClientCount, type GatewayLimits } from './gateway-limits.ts';

/** How long a connection that is refused may take to read why. */
const lastWords = 1_000;

/** Limits the connections of a server, and answers where no request can be read. */
export function guardConnections(
  server: Server,
  limits: GatewayLimits,
  refused: (error: GatewayError) => void,
): void {
  const count = new ClientCount(limits.connections, limits.connectionsPerClient);
  const refuse = (socket: Socket, error: GatewayError) => {
    refused(error);
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    socket.end(error.rawResponse);
    setTimeout(() => socket.destroy(), lastWords).unref();
  };
  server.on('connection', (socket: Socket) => {
    // A closed connection does not know its address any more.
    const client = socket.remoteAddress ?? '';
    // Each request that waits on the connection listens to it, and there may be many, one behind another.
    socket.setMaxListeners(0);
    if (count.enter(client)) socket.on('close', () => count.leave(client));
    else refuse(socket, new GatewayError('too_many_connections', 'Too many connections are open.'));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Clients open connections for later: their first request must not find an answer that is there already.
    const isUnused = (socket as Socket).bytesRead === 0;
    if (error.code === 'ECONNRESET' || isUnused) socket.destroy();
    else refuse(socket as Socket, unreadable(error, limits));
  });
  server.on('connect', (_request, socket) => {
    refuse(socket as Socket, new GatewayError('wrong_method', 'CONNECT is not served here.'));
  });
}

function unreadable({ code }: NodeJS.ErrnoException, limits: GatewayLimits): GatewayError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = `The headers of a request may have at most ${limits.headerSize} bytes here.`;
    return new GatewayError('headers_too_large', message);
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new GatewayError('too_slow', 'The request took too long to arrive.');
  }
  return new GatewayError('bad_request', 'This is not a request of HTTP/1.1.');
}
