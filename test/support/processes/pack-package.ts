import { execFile } from 'node:child_process';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Packs the package as it would be published, but for its types: `npm run package:check` looks at these, and to check all
 * types again takes longer than everything else here. Returns the path of the tarball.
 */
export async function packPackage(folder: string): Promise<string> {
  const draft = join(folder, 'draft');
  const run = promisify(execFile);
  await run(process.execPath, [join(root, 'scripts', 'bundle.mjs'), join(draft, 'dist')]);
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    files: string[];
  };
  const others = manifest.files.filter((name) => name !== 'dist' && !name.startsWith('!'));
  for (const name of ['package.json', 'README.md', 'LICENSE', ...others]) {
    await cp(join(root, name), join(draft, name), { recursive: true });
  }
  const given = ['pack', '--silent', '--pack-destination', folder];
  const { stdout } = await run('npm', given, { cwd: draft });
  return join(folder, stdout.trim());
}
