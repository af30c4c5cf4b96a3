import type { StreamedBody, WireRequest } from './wire.ts';

/** Small enough for the idle watch to see a big chunk move. */
const sliceBytes = 256 * 1024;

export interface Upload {
  readonly length: number;
  /** The last byte was given to the socket: from here on the provider may act. */
  readonly handedOver: boolean;
  /** Some of a large body has left, but not all of it. */
  readonly isPartly: boolean;
  chunks(): AsyncGenerator<Uint8Array>;
  /** The outcome is decided: whatever still pulls gets an error and never the last byte. */
  stop(): void;
}

/**
 * Every body goes out through this generator, an empty one too: that it was pulled says that the
 * connection stands, and its end says that the last byte is with the socket.
 */
export function createUpload(body: WireRequest['body'], onProgress: () => void): Upload {
  const source = toStreamedBody(body);
  let handedOver = false;
  let begun = false;
  let stopped = false;

  // One chunk is held back until the source has ended, so that a body that turns out too long or
  // too short is never complete on the wire.
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let held: Uint8Array | undefined;
    let total = 0;
    for await (const chunk of source.chunks()) {
      total += chunk.length;
      if (total > source.length) {
        throw new RangeError(`the body is longer than its announced ${source.length} bytes`);
      }
      for (const slice of slices(chunk)) {
        onProgress();
        if (held) {
          begun = true;
          yield held;
        }
        held = slice;
      }
    }
    if (total < source.length) {
      throw new RangeError(`the body ended after ${total} of its announced ${source.length} bytes`);
    }
    if (stopped) throw new Error('the request was given up before its last byte');
    handedOver = true;
    if (held) yield held;
    // Asked again after the last chunk: the socket took it, the wait for the answer begins.
    onProgress();
  }

  return {
    length: source.length,
    get handedOver() {
      return handedOver;
    },
    get isPartly() {
      return begun && !handedOver;
    },
    chunks,
    stop() {
      stopped = true;
    },
  };
}

function toStreamedBody(body: WireRequest['body']): StreamedBody {
  if (body === undefined) return { length: 0, chunks: () => [] };
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return body;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return { length: bytes.length, chunks: () => [bytes] };
}

function* slices(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += sliceBytes) {
    yield bytes.subarray(start, start + sliceBytes);
  }
}
