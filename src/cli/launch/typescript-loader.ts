import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { urlOf } from './own-modules.ts';

/** Files that Node cannot run as they are, or only in part: type stripping refuses enums and path aliases. */
const needsLoader = /\.([cm]?ts|tsx|jsx)$/;

/** The loader for a file, as a file URL: the `tsx` of its project, otherwise ours. */
export function typescriptLoader(file: string): string | undefined {
  return needsLoader.test(file) ? (loaderOf(file) ?? import.meta.resolve('tsx')) : undefined;
}

function loaderOf(file: string): string | undefined {
  try {
    const { resolve } = createRequire(file);
    const { version } = JSON.parse(readFileSync(resolve('tsx/package.json'), 'utf8')) as {
      version: string;
    };
    // Earlier ones cannot be given to `--import`.
    return Number.parseInt(version, 10) >= 4 ? urlOf(resolve('tsx')) : undefined;
  } catch {
    return undefined;
  }
}
