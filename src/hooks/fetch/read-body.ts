/** Is told how far a client has read the body of its answer. */
export interface BodyReader {
  /** The client has read the whole body. */
  read(): void;
  /** The client has begun to read the body as a stream, or has reached its end or cancelled it. */
  streams(isOpen: boolean): void;
}

/** The same body, which reports how far it is read. Like a native one it is a byte stream, not read ahead. */
export function watchedBody(
  body: ReadableStream<Uint8Array>,
  reader: BodyReader,
): ReadableStream<Uint8Array> {
  const source = body.getReader();
  let isOpen = false;
  const end = () => {
    if (isOpen) reader.streams(false);
    else reader.read();
  };
  return new ReadableStream({
    type: 'bytes',
    async pull(controller) {
      if (!isOpen) reader.streams(true);
      isOpen = true;
      const { done, value } = await source.read().catch((error: unknown) => {
        end();
        throw error;
      });
      if (!done) {
        controller.enqueue(value);
        return;
      }
      controller.close();
      controller.byobRequest?.respond(0);
      end();
    },
    cancel(reason) {
      end();
      return source.cancel(reason);
    },
  });
}
