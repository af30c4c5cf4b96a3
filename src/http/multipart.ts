import type { StreamedBody } from './wire.ts';

export interface FilePart {
  readonly field: string;
  readonly filename: string;
  readonly contentType: string;
  readonly body: StreamedBody;
}

/** A form with one file, as a stream of known length. Fields come first: some providers ask so. */
export function multipart(
  fields: readonly (readonly [name: string, value: string])[],
  file: FilePart,
): { contentType: string; body: StreamedBody } {
  // 122 random bits: no value and no file can hold the boundary, by chance or by intent.
  const boundary = `batchling-${crypto.randomUUID()}`;
  const parts = fields.map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"\r\n\r\n${value}\r\n`,
  );
  const fileHead =
    `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(file.field)}"; ` +
    `filename="${quoted(file.filename)}"\r\n` +
    `Content-Type: ${withoutControls(file.contentType)}\r\n\r\n`;
  const head = Buffer.from(parts.join('') + fileHead);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);

  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: {
      length: head.length + file.body.length + tail.length,
      async *chunks() {
        yield head;
        yield* file.body.chunks();
        yield tail;
      },
    },
  };
}

/** Percent-encodes quotes and line breaks, as browsers do, and leaves everything else as it is. */
function quoted(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replace(/[\u0000-\u001f\u007f"]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
}

function withoutControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replace(/[\u0000-\u001f\u007f]/g, '');
}
