/** The stream a display writes to: stderr, because stdout belongs to the user's program. */
export interface DisplayStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(text: string): unknown;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether the stream is a terminal that understands escape codes. Some, of containers for one, do not know their size. */
export function canDraw(stream: DisplayStream, environment: Environment = process.env): boolean {
  return stream.isTTY === true && stream.columns !== 0 && environment.TERM !== 'dumb';
}

/** Logs of a CI service are read later, also where its jobs have a terminal. */
export function isCi({ CI }: Environment = process.env): boolean {
  return CI !== undefined && CI !== '' && CI !== 'false' && CI !== '0';
}

/** Colours are for terminals, unless NO_COLOR or FORCE_COLOR says otherwise. FORCE_COLOR wins, as in Node. */
export function usesColor(stream: DisplayStream, environment: Environment = process.env): boolean {
  const { FORCE_COLOR: force, NO_COLOR: no } = environment;
  if (force !== undefined) return force !== '0' && force !== 'false';
  return (no === undefined || no === '') && canDraw(stream, environment);
}

/** Control characters, including C1 and marks that change the direction of a text. */
export const unprintable =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+/g;

/** The text without control characters: a provider's message must not control the terminal. */
export function printable(text: string): string {
  return text.replace(unprintable, ' ');
}

/** The columns that a text takes in a terminal: two for wide characters, none for combining marks. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/** The text, cut with an ellipsis where it is too long. */
export function truncated(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let shown = '';
  let width = 0;
  for (const character of text) {
    width += widthOfCharacter(character);
    if (width > columns - 1) break;
    shown += character;
  }
  return columns > 0 ? `${shown}…` : '';
}

/** The text in lines that break between words; the terminal breaks a word that is too wide. */
export function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line.trim() === '' || widthOf(longer) <= columns) {
      line = longer;
    } else {
      lines.push(line);
      line = `  ${word}`;
    }
  }
  return [...lines, line];
}

const marks = /^[\p{Mark}\p{Default_Ignorable_Code_Point}]$/u;
/** Emoji, and the blocks that are East Asian Wide or Fullwidth as a whole. */
const wide =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]$/u;

function widthOfCharacter(character: string): number {
  if ((character.codePointAt(0) as number) < 0x300) return 1;
  if (marks.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}
