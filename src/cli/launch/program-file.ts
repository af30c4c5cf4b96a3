import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { nearest } from '../../options/nearest.ts';
import { usageError } from '../usage-error.ts';

export interface ProgramFile {
  readonly path: string;
  /** The export to call; without one the file is run as a program. */
  readonly exportName: string | undefined;
}

/** Takes `file.ts` or `file.ts:export` apart. Throws an error of wrong usage when there is no such file. */
export function programFile(given: string): ProgramFile {
  // A name with a colon is a name, too.
  if (existsSync(given)) return { path: checked(given), exportName: undefined };
  // The colon of a drive letter is followed by a path, never by a name alone.
  const [, file, exportName] = /^(..+):([\p{ID_Start}$_][\p{ID_Continue}$]*)$/u.exec(given) ?? [];
  return { path: checked(file ?? given), exportName };
}

function checked(file: string): string {
  const path = resolve(file);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw usageError(`there is no file ${file}${advice(file)}`);
  if (stats.isDirectory()) throw usageError(`${file} is a folder; name a file in it`);
  return path;
}

function advice(file: string): string {
  const folder = dirname(file);
  const name = basename(file);
  if (!existsSync(folder)) return '';
  const candidates = readdirSync(folder).filter((entry) => /\.([cm]?[jt]s|[jt]sx)$/.test(entry));
  const sameStem = candidates.find((entry) => stem(entry) === stem(name));
  const meant = sameStem ?? nearest(name, candidates);
  return meant === undefined ? '' : `\n(Did you mean ${join(folder, meant)}?)`;
}

function stem(name: string): string {
  return name.replace(/\.[^.]*$/, '');
}
