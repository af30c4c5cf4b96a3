import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

/** A proxy that tunnels, and counts the tunnels. */
export async function startProxy() {
  const server = createServer((_request, response) => void response.writeHead(405).end());
  server.on('connect', (request, client) => {
    proxy.tunnels += 1;
    const { hostname, port } = new URL(`http://${request.url}`);
    const upstream = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
    upstream.on('error', () => client.destroy());
    client.on('error', () => upstream.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const proxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tunnels: 0,
    async close() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
  return proxy;
}
