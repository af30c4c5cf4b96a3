const FINGERPRINT_BYTES = 32;

/** All fingerprints as one value: in an array each would travel as text of twice its length. */
export function packedFingerprints(items: readonly { readonly fingerprint: Uint8Array }[]): Buffer {
  const bytes = Buffer.allocUnsafe(items.length * FINGERPRINT_BYTES);
  items.forEach(({ fingerprint }, index) => {
    bytes.set(fingerprint, index * FINGERPRINT_BYTES);
  });
  return bytes;
}

/** SQL: the fingerprint at a place, from 1 on, of a packed value. */
export function fingerprintAt(packed: string, place: string): string {
  return `substring(${packed}::bytea FROM (${place}::int - 1) * ${FINGERPRINT_BYTES} + 1 FOR ${FINGERPRINT_BYTES})`;
}

/** The same text for the same fingerprint and occurrence, as the key of a Map. */
export function identityKey({ buffer, byteOffset, byteLength }: Uint8Array, occurrence: number) {
  return `${Buffer.from(buffer, byteOffset, byteLength).toString('latin1')}${occurrence}`;
}
