import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Where the reader of a hint finds a page of the docs: the file inside the installed package, which is there
 * without a network, or its URL where the program was bundled and has no package.
 */
export function docsPage(name: string): string {
  try {
    const path = fileURLToPath(
      new URL(`docs/${name}`, import.meta.resolve('batchling/package.json')),
    );
    const fromHere = relative(process.cwd(), path);
    if (existsSync(path)) return fromHere.startsWith('..') ? path : fromHere;
  } catch {
    // There is no package to look into.
  }
  return `https://github.com/batchling/batchling/blob/main/docs/${name}`;
}
