/** SQLite drivers cut text at a zero character; such text, which is rare, is stored as bytes. */
export function toStored(text: string): string | Uint8Array {
  return text.includes('\0') ? Buffer.from(text) : text;
}

export function fromStored(stored: string | Uint8Array): string {
  return typeof stored === 'string' ? stored : Buffer.from(stored).toString();
}
