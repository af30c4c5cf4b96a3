import { existsSync, readFileSync, statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { usageError } from '../usage-error.ts';
import { gatewayCure } from './other-languages.ts';

const scripts = /\.([cm]?[jt]s|[jt]sx)$/;

export interface ProgramFile {
  readonly path: string;
  /** The export to call; without one the file is run as a program. */
  readonly exportName: string | undefined;
}

/** Takes `file.ts` or `file.ts:export` apart. Throws an error of wrong usage when there is no such file. */
export function programFile(given: string): ProgramFile {
  // The name of a file may hold a colon.
  if (existsSync(given)) return { path: checked(given), exportName: undefined };
  // The colon of a drive letter is followed by a path, never by a name alone.
  const [, file, exportName] = /^(..+):([\p{ID_Start}$_][\p{ID_Continue}$]*)$/u.exec(given) ?? [];
  return { path: checked(file ?? given), exportName };
}

function checked(file: string): string {
  const path = resolve(file);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw usageError(`there is no file ${file}`);
  if (stats.isDirectory()) throw usageError(`${file} is a folder; name a file in it`);
  if (!isForNode(path)) {
    throw usageError(`${file} is not a JavaScript or TypeScript file. ${gatewayCure}`);
  }
  return path;
}

/** Judges a file by its ending. The first line may say what runs a file with another ending, or with none. */
function isForNode(path: string): boolean {
  if (scripts.test(path)) return true;
  const [firstLine = ''] = readFileSync(path, 'utf8').split('\n', 1);
  if (firstLine.startsWith('#!')) return /\b(node|tsx|bun)\b/.test(firstLine);
  return extname(path) === '';
}
