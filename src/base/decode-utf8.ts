/** `undefined`: not valid UTF-8. */
export function decodeUtf8(body: ArrayBuffer | NodeJS.ArrayBufferView): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}
