import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The first one wins: a compiled `.js` beside its `.ts` is a copy. */
export const configNames = ['ts', 'js', 'mjs', 'json'].map(
  (ending) => `batchling.config.${ending}`,
);

/**
 * The config file of a folder: in it, or above it up to the nearest folder with a package.json. Where
 * there is no package.json, only the folder itself counts: the file of a home folder is not for everything.
 */
export function findConfig(folder: string): string | undefined {
  for (const place of foldersOfProject(folder)) {
    const found = configNames.map((name) => join(place, name)).find((path) => existsSync(path));
    if (found !== undefined) return found;
  }
  return undefined;
}

function foldersOfProject(folder: string): string[] {
  const folders = [];
  for (let place = folder; ; place = dirname(place)) {
    folders.push(place);
    if (existsSync(join(place, 'package.json'))) return folders;
    if (dirname(place) === place) return [folder];
  }
}
