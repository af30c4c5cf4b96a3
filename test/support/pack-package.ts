import { execFile } from 'node:child_process';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Packs the package as it would be published, but for its types: `npm run package:check` looks at these, and to check all
 * types again takes longer than everything else here. Returns the path of the tarball.
 */
export async function packPackage(folder: string): Promise<string> {
  const draft = join(folder, 'draft');
  await compileInto(join(draft, 'dist'));
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    files: string[];
  };
  const others = manifest.files.filter((name) => name !== 'dist');
  for (const name of ['package.json', 'README.md', 'LICENSE', ...others]) {
    await cp(join(root, name), join(draft, name), { recursive: true });
  }
  const given = ['pack', '--silent', '--pack-destination', folder];
  const { stdout } = await promisify(execFile)('npm', given, { cwd: draft });
  return join(folder, stdout.trim());
}

/** By the compiler that tsx brings along, which takes a second where that of TypeScript takes ten. */
async function compileInto(outdir: string): Promise<void> {
  const source = join(root, 'src');
  const entryPoints = (await readdir(source, { recursive: true }))
    .filter((path) => path.endsWith('.ts') && !/\.test(-helper)?\.ts$/.test(path))
    .map((path) => join(source, path));
  const esbuild = createRequire(createRequire(import.meta.url).resolve('tsx')).resolve('esbuild');
  const { default: compiler } = (await import(pathToFileURL(esbuild).href)) as {
    default: { build(options: object): Promise<unknown> };
  };
  const tsconfigRaw = { compilerOptions: { verbatimModuleSyntax: true, target: 'es2022' } };
  const format = 'esm';
  await compiler.build({
    entryPoints,
    outdir,
    outbase: source,
    format,
    target: 'node20',
    tsconfigRaw,
  });
  for (const path of await readdir(outdir, { recursive: true })) {
    if (!path.endsWith('.js')) continue;
    const text = await readFile(join(outdir, path), 'utf8');
    const found = text.replaceAll(/((?:from|import|import\() ?")(\.[^"]+)\.ts"/g, '$1$2.js"');
    await writeFile(join(outdir, path), found);
  }
}
