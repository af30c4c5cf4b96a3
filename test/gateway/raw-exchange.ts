import { connect } from 'node:net';

/** Writes bytes to a new connection and returns all that comes back until it is closed or quiet. */
export function rawExchange(
  port: number,
  pieces: readonly string[],
  { pause = 0 } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
      if (isWhole(received)) socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The other side may close while we still write: what it has said before counts.
      if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') reject(error);
    });
    socket.once('close', () => resolve(received));
    void (async () => {
      for (const piece of pieces) {
        if (!socket.destroyed) socket.write(piece, 'latin1');
        if (pause > 0) await new Promise((next) => setTimeout(next, pause));
      }
    })();
  });
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end)) ?? [];
  return end >= 0 && length !== undefined && text.length >= end + 4 + Number(length);
}

/** `404 batchling_not_found`; without a type of ours, the status alone. */
export function outcomeOf(received: string): string {
  const [, status = 'closed'] = /^HTTP\/1\.1 (\d{3})/.exec(received) ?? [];
  const [, type] = /"(?:type|status)":"(batchling_\w+)"/.exec(received) ?? [];
  return type === undefined ? status : `${status} \`${type}\``;
}
