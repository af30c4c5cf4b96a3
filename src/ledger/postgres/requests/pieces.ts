/** Texts as one value: in an array each would travel as text of twice its length, and never with a zero. */
export function pieces(texts: readonly string[]) {
  const starts: number[] = [];
  const lengths: number[] = [];
  let end = 0;
  for (const text of texts) {
    const length = Buffer.byteLength(text);
    starts.push(end + 1);
    lengths.push(length);
    end += length;
  }
  const bytes = Buffer.allocUnsafe(end);
  texts.forEach((text, index) => {
    bytes.write(text, (starts[index] as number) - 1);
  });
  return { bytes, starts, lengths };
}

/** SQL: one text of a value; `start` and `length` are columns. */
export function pieceAt(packed: string): string {
  return `substring(${packed}::bytea FROM start FOR length)`;
}
