/** What a message is signed with: the keys of one or several secrets, the new one beside the old. */
export type SigningKeys = readonly Uint8Array[];

/** The form of a secret, for people. */
export const secretForm = 'whsec_ and 24 to 64 bytes in base64; several with a space between them';

/** `undefined`: the text is no secret of Standard Webhooks. */
export function signingKeys(text: string): SigningKeys | undefined {
  const keys = text
    .trim()
    .split(/\s+/)
    .map((secret) => {
      const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
      return Buffer.from(base64, 'base64');
    });
  return keys.every(({ length }) => length >= 24 && length <= 64) ? keys : undefined;
}
