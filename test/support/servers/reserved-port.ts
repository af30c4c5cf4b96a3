import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** A port of 127.0.0.1 at which nobody listens but the one for whom it is kept. */
export interface ReservedPort {
  readonly port: number;
  /** From now on the system may give it to anybody. */
  release(): void;
}

/**
 * A port that was only found free may be somebody else's a moment later: tests of other processes open servers all the time.
 * This one is an end of a connection of ours. Who asks for any free port does not get it, and calls to it are refused until
 * somebody who asks for this very one listens there.
 */
export async function reservePort(): Promise<ReservedPort> {
  const server = createServer((socket) => void socket.unref()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const end = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.1' });
  await once(end, 'connect');
  // It keeps no process up.
  server.unref();
  end.unref();
  return {
    port: end.localPort as number,
    release() {
      end.destroy();
      server.close();
    },
  };
}
