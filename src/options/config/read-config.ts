import type { ConfigFile } from './config-file.ts';
import { findConfig } from './find-config.ts';
import { loadConfig } from './load-config.ts';

/** The config file of a folder, read and checked; undefined where there is none. */
export async function readConfig(folder = process.cwd()): Promise<ConfigFile | undefined> {
  const path = findConfig(folder);
  return path === undefined ? undefined : loadConfig(path);
}
