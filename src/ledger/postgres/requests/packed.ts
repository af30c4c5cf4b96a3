import { FINGERPRINT_BYTES, fingerprintKey } from '../../fingerprints.ts';

/**
 * SQL: the fingerprint at a place, from 1 on, of a packed value. In an array each would travel as text of twice
 * its length.
 */
export function fingerprintAt(packed: string, place: string): string {
  return `substring(${packed}::bytea FROM (${place}::int - 1) * ${FINGERPRINT_BYTES} + 1 FOR ${FINGERPRINT_BYTES})`;
}

/** The same text for the same fingerprint and occurrence, as the key of a Map. */
export function identityKey(fingerprint: Uint8Array, occurrence: number): string {
  return `${fingerprintKey(fingerprint)}${occurrence}`;
}
