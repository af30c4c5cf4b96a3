const signature = /^AWS4-HMAC-SHA256\s+Credential=([^/,\s]+)/;

/** Headers of AWS that prove who calls. All but the first serve one call only. */
export const awsCredentialHeaders = [
  'authorization',
  'x-amz-date',
  'x-amz-content-sha256',
  'x-amz-security-token',
] as const;

/**
 * What a credential header says of its account for longer than one call: of a signature the id of the key that has
 * made it. `undefined`: nothing.
 */
export function lastingCredential(name: string, value: string): string | undefined {
  if (name.startsWith('x-amz-')) return undefined;
  const id = keyIdIn(value);
  return id === undefined ? value : signedBy(id);
}

/** The id of the key of AWS that has signed. */
export function keyIdIn(authorization: string): string | undefined {
  return signature.exec(authorization)?.[1];
}

/** Stands for a call that was signed with this key. */
export function signedBy(keyId: string): string {
  return `AWS4-HMAC-SHA256 Credential=${keyId}`;
}
