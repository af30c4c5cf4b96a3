/** The number of bytes of a fingerprint. */
export const FINGERPRINT_BYTES = 32;

/** 32 bytes as 32 one-byte characters, without a copy: the cheapest string a Map can be keyed by. */
export function fingerprintKey({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
}

/** All fingerprints as one value for a statement. */
export function packedFingerprints(items: readonly { readonly fingerprint: Uint8Array }[]): Buffer {
  const bytes = Buffer.allocUnsafe(items.length * FINGERPRINT_BYTES);
  items.forEach(({ fingerprint }, index) => {
    bytes.set(fingerprint, index * FINGERPRINT_BYTES);
  });
  return bytes;
}
