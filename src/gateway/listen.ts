import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Resolves when the server takes connections. `backlog`: connections that may come at once. */
export function listen(
  server: Server,
  { port, host }: { readonly port: number; readonly host: string },
  backlog?: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Where a server listens, without a slash at the end. */
export function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
