/** The config file of this process: options that rank below variables and above defaults. */
export interface ConfigFile {
  readonly path: string;
  readonly options: Readonly<Record<string, unknown>>;
}

// It stands on globalThis because the program may load another copy of the package.
const key = Symbol.for('batchling.config');
const place = globalThis as { [key]?: ConfigFile };

export function configFile(): ConfigFile | undefined {
  return place[key];
}

/** Every scope that is opened from here on uses the file. */
export function useConfigFile(file: ConfigFile): void {
  // The property is not enumerable, so that code which copies or compares globals does not meet it.
  Object.defineProperty(place, key, { value: file, configurable: true });
}
