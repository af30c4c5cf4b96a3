import { pathToFileURL } from 'node:url';

/** Run from the sources, not from the compiled package. */
const isSource = import.meta.url.endsWith('.ts');
/** The folder of the package's modules, seen from here or from the chunk that this module is bundled into. */
const root = new URL(
  /\/cli\/launch\/[^/]+$/.test(import.meta.url) ? '../../' : '../',
  import.meta.url,
);

/**
 * The modules that a process in batch mode imports before its program, as file URLs: the user's project
 * need not know batchling. With a config file, that file is loaded first.
 */
export function imports(config: string | undefined): string[] {
  return [
    // Our own sources need a loader.
    ...(isSource ? [import.meta.resolve('tsx')] : []),
    ...(config === undefined ? [] : [moduleUrl('cli/launch/use-config')]),
    moduleUrl('register'),
  ];
}

/** The URL of a module of this package, named by its path below `src`. The build must know its name. */
export function moduleUrl(name: string): string {
  return new URL(`${name}${isSource ? '.ts' : '.js'}`, root).href;
}

/** `--import` for each of them, first to last. */
export function importArguments(urls: readonly string[]): string[] {
  return urls.flatMap((url) => ['--import', url]);
}

export function urlOf(path: string): string {
  return pathToFileURL(path).href;
}
