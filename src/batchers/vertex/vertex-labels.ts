import type { ItemId } from '../../base/types.ts';
import { memberText, withMember } from '../shared/json-text.ts';

/**
 * The label of a request of Gemini that names it. Vertex echoes requests with their labels, but labels may
 * hold lower-case letters, digits, `-` and `_` only, 63 of them at most. An id is 32 bytes and a number: 61
 * characters of base 32, always as many.
 */
export const labelName = 'batchling-id';

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
const hashBytes = 32;
const numberBytes = 6;
const labelLength = Math.ceil(((hashBytes + numberBytes) * 8) / 5);
const inId = /^([\w-]{43})-(\d{1,14})$/;

/** The label for an id; `undefined` for one that the engine did not make. */
export function labelOf(id: ItemId): string | undefined {
  const [, hash, occurrence] = inId.exec(id) ?? [];
  if (hash === undefined) return undefined;
  const bytes = Buffer.alloc(hashBytes + numberBytes);
  bytes.write(hash, 'base64url');
  bytes.writeUIntBE(Number(occurrence), hashBytes, numberBytes);
  const label = toBase32(bytes);
  return idOfLabel(label) === id ? label : undefined;
}

/** The id that a label stands for; `undefined` for what is no label of ours. */
export function idOfLabel(label: unknown): ItemId | undefined {
  if (typeof label !== 'string' || label.length !== labelLength || !/^[a-z2-7]+$/.test(label)) {
    return undefined;
  }
  const bytes = fromBase32(label);
  const hash = bytes.subarray(0, hashBytes).toString('base64url');
  return `${hash}-${bytes.readUIntBE(hashBytes, numberBytes)}`;
}

function toBase32(bytes: Buffer): string {
  const bits = BigInt(`0x${bytes.toString('hex')}`) << padding;
  let rest = bits;
  let text = '';
  for (let at = 0; at < labelLength; at += 1) {
    text = alphabet[Number(rest & 31n)] + text;
    rest >>= 5n;
  }
  return text;
}

function fromBase32(text: string): Buffer {
  let bits = 0n;
  for (const letter of text) bits = (bits << 5n) | BigInt(alphabet.indexOf(letter));
  const hex = (bits >> padding).toString(16).padStart((hashBytes + numberBytes) * 2, '0');
  return Buffer.from(hex, 'hex');
}

/** Bits of the last character that belong to no byte. */
const padding = BigInt(labelLength * 5 - (hashBytes + numberBytes) * 8);

/** What a label adds to a request that has none of its own. */
export const labelBytes = opening('x'.repeat(labelLength)).length + ','.length;

function opening(label: string): string {
  return `"labels":{"${labelName}":"${label}"}`;
}

/** The most labels that a request may have. */
const mostLabels = 64;

/** The request with this label beside its own, if there is room; everything else stays byte for byte. */
export function withLabel(body: string, label: string): string {
  const own = body.includes('"labels"') ? memberText(body, 'labels') : undefined;
  if (own?.startsWith('{')) {
    if (Object.keys(JSON.parse(own)).length >= mostLabels) return body;
    return withMember(body, 'labels', withMember(own, labelName, JSON.stringify(label)));
  }
  const start = body.indexOf('{') + 1;
  const rest = body.slice(start);
  const isEmpty = rest.trimStart().startsWith('}');
  // Labels of another kind are the provider's to refuse.
  if (own !== undefined || isEmpty) return body;
  return `${body.slice(0, start)}${opening(label)},${rest}`;
}
