import type { ItemId } from '../../base/types.ts';

/** 43 characters of fingerprint and the occurrence: legal in every provider's id, at most 64 long. */
export function itemId(fingerprint: Uint8Array, occurrence: number): ItemId {
  const bytes = Buffer.isBuffer(fingerprint) ? fingerprint : Buffer.from(fingerprint);
  return `${bytes.toString('base64url')}-${occurrence}`;
}
