import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { useConfigFile } from '../options/config/config-file.ts';
import { findConfig } from '../options/config/find-config.ts';
import { usageError } from './usage-error.ts';

/** The path of the config file: of the flag `--config`, or of the project. Throws an error of wrong usage. */
export function configPath(flag: string | undefined): string | undefined {
  if (flag === undefined) return findConfig(process.cwd());
  const path = resolve(flag);
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) {
    throw usageError(`--config: there is no file ${path}`);
  }
  if (!/\.(ts|js|mjs|json)$/.test(path)) {
    throw usageError(`--config: ${flag} must be a .ts, .js, .mjs or .json file`);
  }
  return path;
}

/** Every scope from here on uses the config file at this path, if there is one. What loads it is loaded only then. */
export async function useConfig(path: string | undefined): Promise<void> {
  if (path === undefined) return;
  const { loadConfig } = await import('../options/config/load-config.ts');
  useConfigFile(await loadConfig(path));
}
