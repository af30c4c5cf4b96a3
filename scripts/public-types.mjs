// Drops the declarations that no entry of the package leads to: tsc writes one for each module, and most are nobody's but
// ours. They were half of all declarations, and three files in five. node scripts/public-types.mjs, after tsc
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const entries = Object.values(exports).flatMap(({ types }) => (types ? [join(root, types)] : []));

/** `import … from './x.js'`, `export … from './x.js'`, `import './x.js'` and `import('./x.js')`. */
const imported = /(?:\bfrom\s*|\bimport\s*\(?\s*)["'](\.[^"']+)["']/g;

const reached = new Set(entries);
for (const file of reached) {
  for (const [, path] of readFileSync(file, 'utf8').matchAll(imported)) {
    const target = join(dirname(file), path.replace(/\.[jt]s$/, '.d.ts'));
    if (!existsSync(target)) throw new Error(`${file} imports ${path}, which is not there.`);
    reached.add(target);
  }
}
dropFrom(join(root, 'dist'));

/** A folder that holds nothing else goes, too. */
function dropFrom(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) dropFrom(path);
    else if (path.endsWith('.d.ts') && !reached.has(path)) rmSync(path);
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}
