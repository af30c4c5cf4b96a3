import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';

type Chunks = AsyncIterable<Uint8Array>;

const chunkSize = 64 * 1024;
/** `deflate` is zlib's format by the standard; both headers are told apart by the decoder. */
const unzip = () => createUnzip({ chunkSize });
const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: unzip,
  'x-gzip': unzip,
  deflate: unzip,
  br: () => createBrotliDecompress({ chunkSize }),
};

/** No honest gzip grows by more than this factor. A body that does was made to exhaust memory. */
const mostGrowth = 1_100;
/** Below this size any growth is harmless. */
const harmlessBytes = 64 * 1024 * 1024;

/** A body as it was before it was encoded, in the stream. What cannot be decoded throws. */
export async function* decoded(
  chunks: Chunks,
  contentEncoding: string,
): AsyncGenerator<Uint8Array> {
  let taken = 0;
  let given = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      taken += chunk.length;
      yield chunk;
    }
  }
  try {
    for await (const chunk of withoutEncodings(counted(), contentEncoding)) {
      given += chunk.length;
      if (given > harmlessBytes && given > taken * mostGrowth) {
        throw new Error(`${taken} bytes of it decode to more than ${given}`);
      }
      yield chunk;
    }
  } catch (error) {
    // An empty body is empty in every encoding, whatever zlib says.
    if (taken > 0 || !isUnfinished(error)) throw error;
  }
}

function withoutEncodings(chunks: Chunks, contentEncoding: string): Chunks {
  const encodings = contentEncoding
    .split(',')
    .map((encoding) => encoding.trim().toLowerCase())
    .filter((encoding) => encoding !== '' && encoding !== 'identity');
  // Named in the order in which they were applied.
  return encodings.reduceRight((encoded, encoding) => {
    const decoder = decoders[encoding]?.();
    if (!decoder) throw new Error(`its content-encoding ${JSON.stringify(encoding)} is not known`);
    // What breaks either of them reaches the reader of the decoder.
    pipeline(Readable.from(encoded, { objectMode: false }), decoder, () => undefined);
    return decoder as AsyncIterable<Buffer>;
  }, chunks);
}

function isUnfinished(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR';
}
