import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A network between a program and a server, which can fail. */
export interface Relay {
  readonly port: number;
  /** Connections break, and new ones are refused. */
  cut(): void;
  /** Nothing comes through any more, in either direction, and nobody is told. */
  freeze(): void;
  /** As before. What was under way when it was frozen arrives. */
  heal(): void;
  close(): Promise<void>;
}

type State = 'open' | 'frozen' | 'cut';

export async function startRelay(target: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  let state: State = 'open';
  const keep = (socket: Socket, other: Socket) => {
    sockets.add(socket);
    if (state === 'frozen') socket.pause();
    socket.on('data', (bytes) => {
      if (other.writable) other.write(bytes);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      other.destroy();
    });
  };
  const server = createServer((near) => {
    if (state === 'cut') {
      near.destroy();
      return;
    }
    const far = connect(target, '127.0.0.1');
    keep(near, far);
    keep(far, near);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      state = 'cut';
      for (const socket of sockets) socket.destroy();
    },
    freeze() {
      state = 'frozen';
      for (const socket of sockets) socket.pause();
    },
    heal() {
      state = 'open';
      for (const socket of sockets) socket.resume();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The same address, by way of the relay. */
export function viaRelay(url: string, { port }: Relay): string {
  const address = new URL(url);
  address.port = String(port);
  return address.href;
}
