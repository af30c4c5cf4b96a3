/** Where a display writes; stdout belongs to the user's program. */
export interface DisplayStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(text: string): unknown;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether lines can be drawn over: a terminal that understands escape codes. */
export function canDraw(stream: DisplayStream, environment: Environment = process.env): boolean {
  return stream.isTTY === true && environment.TERM !== 'dumb';
}

/** As NO_COLOR and FORCE_COLOR want it; otherwise in terminals. FORCE_COLOR wins, as in Node. */
export function usesColor(stream: DisplayStream, environment: Environment = process.env): boolean {
  const { FORCE_COLOR: force, NO_COLOR: no } = environment;
  if (force !== undefined) return force !== '0' && force !== 'false';
  return (no === undefined || no === '') && canDraw(stream, environment);
}

/** Without control characters: a provider's message must not steer the terminal. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
}

/** The columns that a text takes, as terminals count: two for wide characters, none for marks. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/** The text, or as much of it as fits with an ellipsis behind it. */
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

/** The text in lines that end between words; a word that is wider than a line is left to the terminal. */
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
const wide = /^\p{Emoji_Presentation}$/u;

/** East Asian Wide and Fullwidth, in blocks: a block is wide as a whole. */
const wideBlocks: readonly (readonly [from: number, to: number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x20000, 0x3fffd],
];

function widthOfCharacter(character: string): number {
  const code = character.codePointAt(0) as number;
  if (code < 0x300) return 1;
  if (marks.test(character)) return 0;
  if (wide.test(character)) return 2;
  return wideBlocks.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
}
