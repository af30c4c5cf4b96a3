/** The config file of this process: options that rank below variables and above defaults. */
export interface ConfigFile {
  readonly path: string;
  readonly options: Readonly<Record<string, unknown>>;
}

// On globalThis, because the program may load a copy of the package of its own.
const key = Symbol.for('batchling.config');
const place = globalThis as { [key]?: ConfigFile };

export function configFile(): ConfigFile | undefined {
  return place[key];
}

/** Every scope that is opened from here on uses the file. */
export function useConfigFile(file: ConfigFile): void {
  // Not enumerable: code that copies or compares globals does not meet it.
  Object.defineProperty(place, key, { value: file, configurable: true });
}
