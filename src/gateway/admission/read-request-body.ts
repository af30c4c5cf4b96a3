import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../gateway-error.ts';
import type { BodyRoom, BodyShare } from './body-room.ts';

/** A body in memory. */
export interface ReadBody {
  /** `undefined` once it is not needed here any more. */
  bytes: Buffer | undefined;
  /** Its part of the room for all bodies. */
  readonly share: BodyShare;
}

/**
 * Reads the whole body, once there is room for it. Throws as soon as it is known to be too large or its client has
 * gone. A body that has to wait for longer than a request may take gets a 408.
 */
export async function readBody(
  request: IncomingMessage,
  most: number,
  room: BodyRoom,
): Promise<ReadBody> {
  assertLength(request, most);
  const length = request.headers['content-length'];
  const share = await room.enter(Number(length ?? 0));
  try {
    const bytes = await readPieces(request, most, length === undefined ? share : undefined);
    return { bytes, share };
  } catch (error) {
    share.leave();
    throw error;
  }
}

/** `growing`: for a body that does not say how long it is. */
function readPieces(
  request: IncomingMessage,
  most: number,
  growing: BodyShare | undefined,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) throw request.errored ?? new Error('The client has gone.');
    const pieces: Buffer[] = [];
    let size = 0;
    request.on('data', (piece: Buffer) => {
      size += piece.length;
      pieces.push(piece);
      const isTooLarge = size > most;
      if (!isTooLarge && growing?.grow(piece.length) !== false) return;
      pieces.length = 0;
      request.removeAllListeners('data');
      reject(isTooLarge ? tooLarge(most) : noRoom());
    });
    request.on('end', () => {
      const body = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
      // The request lives until it is answered, and its listeners with it; the body need not.
      pieces.length = 0;
      resolve(body);
    });
    request.on('error', reject);
  });
}

function noRoom(): GatewayError {
  return new GatewayError(
    'too_many_bytes',
    'Too many large bodies arrive at once. Try again later.',
  );
}

export function assertLength({ headers }: IncomingMessage, most: number): void {
  if (Number(headers['content-length'] ?? 0) > most) throw tooLarge(most);
}

export function tooLarge(most: number): GatewayError {
  return new GatewayError('body_too_large', `A body may have at most ${most} bytes here.`);
}
