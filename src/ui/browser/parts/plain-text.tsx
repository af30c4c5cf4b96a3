import { useState } from 'preact/hooks';
import { bytes } from '../words.ts';

const atFirst = 20_000;

/** Characters that turn the direction of a text, or that nobody sees: a reader is shown that they are there. Joiners belong to words. */
const hidden = /((?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}])/gu;

/** What a model or a user wrote: text, whatever it looks like. A long one is cut until somebody wants all of it. */
export function PlainText({ text, whole }: { text: string; whole?: number | undefined }) {
  const [isAll, showAll] = useState(false);
  const shown = isAll ? text : text.slice(0, atFirst);
  return (
    <div class="text">
      <Words text={shown} />
      {shown.length < text.length && (
        <p>
          <button type="button" class="small" onClick={() => showAll(true)}>
            Show all of it ({bytes(text.length)})
          </button>
        </p>
      )}
      {whole !== undefined && shown.length === text.length && (
        <p class="quiet">
          Cut here, after {bytes(text.length)} of {bytes(whole)}: batchling export writes all of it.
        </p>
      )}
    </div>
  );
}

/** The same within a line. */
export function Words({ text }: { text: string }) {
  return <bdi>{marked(text)}</bdi>;
}

/** For places that take no marks, such as the title of a window. */
export function withoutHidden(text: string): string {
  return text.replace(hidden, '');
}

function marked(text: string) {
  return text.split(hidden).map((piece, index) => {
    if (index % 2 === 0) return piece;
    const name = `U+${(piece.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
    return <mark key={index}>{name}</mark>;
  });
}
