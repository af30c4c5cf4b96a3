/** Who wants to know whether the body of an answer is read. */
export interface BodyReader {
  /** The client has all of it. */
  read(): void;
  /** The client has begun to read it as a stream, or has come to its end or given it up. */
  streams(isOpen: boolean): void;
}

/** The same body, which tells how far it is read. It is not read ahead, and takes bytes as native ones do. */
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
