import type { IncomingMessage } from 'node:http';
import { GatewayError } from './gateway-error.ts';

/** The whole body. Throws as soon as it is known to be too large, or its client has gone. */
export function readBody(request: IncomingMessage, most: number): Promise<Buffer> {
  assertLength(request, most);
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    request.on('data', (piece: Buffer) => {
      size += piece.length;
      pieces.push(piece);
      if (size <= most) return;
      pieces.length = 0;
      request.removeAllListeners('data');
      reject(tooLarge(most));
    });
    request.once('end', () => {
      const body = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
      // The request lives until it is answered, and its listeners with it; the body need not.
      pieces.length = 0;
      resolve(body);
    });
    request.once('error', reject);
  });
}

export function assertLength({ headers }: IncomingMessage, most: number): void {
  if (Number(headers['content-length'] ?? 0) > most) throw tooLarge(most);
}

export function tooLarge(most: number): GatewayError {
  return new GatewayError('body_too_large', `A body may have at most ${most} bytes here.`);
}
