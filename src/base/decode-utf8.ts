const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** `undefined`: not valid UTF-8. */
export function decodeUtf8(body: ArrayBuffer | NodeJS.ArrayBufferView): string | undefined {
  try {
    return decoder.decode(body);
  } catch {
    return undefined;
  }
}
