import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

interface Esbuild {
  build(options: object): Promise<{ outputFiles: { path: string; text: string }[] }>;
}

/** The compiler that tsx brings along. */
export async function loadEsbuild(): Promise<Esbuild> {
  const path = createRequire(createRequire(import.meta.url).resolve('tsx')).resolve('esbuild');
  const { default: esbuild } = (await import(pathToFileURL(path).href)) as { default: Esbuild };
  return esbuild;
}
