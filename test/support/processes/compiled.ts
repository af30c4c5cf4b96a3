import { createHash } from 'node:crypto';
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ScriptTarget } from 'typescript';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const cache = join(root, 'node_modules', '.cache');
const folders = ['src', 'test/support/programs', 'test/fidelity'];
/** The programs under test do not need it, and each file costs a little. */
const leftOut = /^src\/simulator\/|\.test\.ts$|\.test-helper\.ts$/;

let compiled: Promise<string> | undefined;

/**
 * The sources and the test programs as plain JavaScript, for tests that start hundreds of processes.
 * Named after its contents: whoever comes second, in whichever process, uses what is there.
 */
export function compiledProgram(name: string): Promise<string> {
  return compiledModule(`test/support/programs/${name}`);
}

/** The command line, compiled like the programs. `demo` and `simulate` need the sources. */
export function compiledCli(): Promise<string> {
  return compiledModule('src/cli/main');
}

/** The path of a compiled module, which is named by its path in the repository without an ending. */
export async function compiledModule(name: string): Promise<string> {
  compiled ??= compile();
  return join(await compiled, `${name}.js`);
}

async function compile(): Promise<string> {
  const sources = await readSources();
  const hash = createHash('sha256').update(JSON.stringify(sources)).digest('hex').slice(0, 16);
  const folder = join(cache, `batchling-compiled-${hash}`);
  if (await isThere(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, 'batchling-draft-'));
  await writeFile(join(draft, 'package.json'), '{"type":"module"}');
  for (const [path, text] of sources) {
    const target = join(draft, path.replace(/\.ts$/, '.js'));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, await transpile(text));
  }
  try {
    await rename(draft, folder);
    await forgetOthers(folder);
  } catch {
    // Another process was faster.
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}

async function readSources(): Promise<[path: string, text: string][]> {
  const sources: [string, string][] = [];
  for (const folder of folders) {
    for (const entry of await readdir(join(root, folder), { recursive: true })) {
      const path = join(folder, entry);
      if (!path.endsWith('.ts') || leftOut.test(path)) continue;
      sources.push([path, await readFile(join(root, path), 'utf8')]);
    }
  }
  return sources.sort(([a], [b]) => (a < b ? -1 : 1));
}

export async function transpile(text: string, target?: ScriptTarget): Promise<string> {
  // Loading TypeScript takes a second, and most files of tests find everything compiled.
  const { default: ts } = await import('typescript');
  return ts.transpileModule(text, {
    compilerOptions: {
      target: target ?? ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      rewriteRelativeImportExtensions: true,
      verbatimModuleSyntax: true,
    },
  }).outputText;
}

/** The time of a folder is that of its last use. */
function isThere(folder: string): Promise<boolean> {
  const now = new Date();
  return utimes(folder, now, now).then(
    () => true,
    () => false,
  );
}

/** Of earlier versions of the sources; a test that still runs on one of them is an hour old at most. */
async function forgetOthers(current: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    if (!name.startsWith('batchling-compiled-') || path === current) continue;
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > 3_600_000) await rm(path, { recursive: true, force: true });
  }
}
