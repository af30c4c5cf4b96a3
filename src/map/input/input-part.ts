import type { Stats } from 'node:fs';

/** More than any provider takes. It is in memory as a whole, and in several copies. */
export const longestLine = 256 * 1024 * 1024;

/** One file of the input. Its lines are read from `path`, which may be a copy of what the user named. */
export interface InputPart {
  /** As the user named it, for messages. */
  readonly shown: string;
  /** A file of lines. */
  readonly path: string;
  /** How its lines are counted in messages: rows of a table are not lines of their file. */
  readonly unit: 'line' | 'row';
  /** The file as it was when the job began; it must stay like that, or answers would come to other lines. */
  readonly file: FileFacts;
}

/** What changes with a file. `ino`: another file may come to its place. */
export type FileFacts = Pick<Stats, 'size' | 'mtimeMs' | 'ino'>;

/** A place in the input: a byte of a part, and the number of the line that begins there. */
export interface Position {
  readonly part: number;
  readonly offset: number;
  /** Among all lines of all parts, from 0. */
  readonly line: number;
}

export const inputStart: Position = { part: 0, offset: 0, line: 0 };

/** One line of the input. */
export interface InputLine {
  /** Among all lines of all parts, from 0. Empty lines are not counted. */
  readonly number: number;
  readonly text: string;
  /** The part that it stands in. */
  readonly part: InputPart;
  /** Its number in that part, from 1, empty lines counted: what an editor shows. */
  readonly place: number;
}
