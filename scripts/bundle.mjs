// Bundles the modules of the package: node scripts/bundle.mjs [folder] [--sourcemap]. The start of a program pays for each
// file that Node has to find, read and link. What is imported lazily stays lazy.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { bundlePage } from './bundle-page.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const [given = join(root, 'dist')] = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const folder = resolve(given);

/** Processes under `batchling run` and `exec` import these by their address (src/cli/launch/own-modules.ts). */
const namedByAddress = ['cli/launch/call-export', 'cli/launch/use-config'];

/** What starts with these modules shall load few files. What several of them need at once has a file of its own. */
const starts = {
  library: ['index', 'core', 'register'],
  command: ['cli/program'],
  launch: ['cli/commands/run', 'cli/commands/exec'],
};

/** A program loads these lazily, but all of them as soon as it batches anything: few files, too. */
const loadedLater = {
  engine: ['scope/engine/engines', 'orchestrator/engine', 'http/client', 'ledger/open-ledger'],
  sqlite: ['ledger/sqlite/connection/open-sqlite'],
  batcher: ['batchers/openai/openai-batcher'],
};

for (const name of [...Object.values(starts), ...Object.values(loadedLater)].flat()) {
  if (!existsSync(source(name))) throw new Error(`There is no module ${source(name)}.`);
}
rmSync(folder, { recursive: true, force: true });
await bundle();
await writePage();

async function bundle() {
  const { exports, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const entries = [...Object.values(exports).map((entry) => entry.default), ...Object.values(bin)]
    .filter((path) => path !== undefined)
    .map((path) => path.replace(/^(\.\/)?dist\//, '').replace(/\.js$/, ''));
  const bundler = await rolldown({
    cwd: root,
    input: Object.fromEntries([...entries, ...namedByAddress].map((name) => [name, source(name)])),
    platform: 'node',
    // Chunks that do not take all their modules' dependencies along ask for this.
    preserveEntrySignatures: 'allow-extension',
    external: (id) => !/^[./]/.test(id) && !id.startsWith(root),
    // What the library loads lazily, a command may need at once.
    checks: { ineffectiveDynamicImport: false },
  });
  await bundler.write({
    dir: folder,
    format: 'esm',
    sourcemap: process.argv.includes('--sourcemap'),
    entryFileNames: '[name].js',
    // One folder below the root, like the program of the command line: see own-modules.ts.
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: chunkOf(entries), debugName: 'starts' }],
    },
  });
  await bundler.close();
}

/** What the browser gets of `batchling ui`; src/ui/page-files.ts reads it. */
async function writePage() {
  const { script, style } = await bundlePage();
  mkdirSync(join(folder, 'ui'), { recursive: true });
  writeFileSync(join(folder, 'ui/page.js'), script);
  writeFileSync(join(folder, 'ui/page.css'), style);
}

/**
 * A module belongs to all starts that load it. Entries stay in their own files: what they do when they are
 * loaded is meant for those who name them. What the library loads lazily stays apart from the command line:
 * in one file with it, all of the command line would be part of every program that somebody bundles.
 */
function chunkOf(entries) {
  const apart = new Set(entries.map(source));
  let loaded;
  let loadedWithEngine;
  let loadedLazily;
  return (id, graph) => {
    loaded ??= modulesOf(graph, starts);
    loadedWithEngine ??= modulesOf(graph, loadedLater);
    loadedLazily ??= reachable(graph, starts.library.map(source), [
      'importedIds',
      'dynamicallyImportedIds',
    ]);
    if (apart.has(id)) return null;
    const name = namesOf(loaded, id) || namesOf(loadedWithEngine, id);
    if (name === '') return null;
    return loadedLazily.has(id) && !name.includes('library') ? `lazy-${name}` : name;
  };
}

/** What each of these loads, by its name. */
function modulesOf(graph, groups) {
  return Object.entries(groups).map(([name, modules]) => [
    name,
    reachable(graph, modules.map(source)),
  ]);
}

function namesOf(groups, id) {
  const needing = groups.filter(([, modules]) => modules.has(id));
  return needing.map(([name]) => name).join('-');
}

/** These modules, and what they import; without other kinds of imports not what they import lazily. */
function reachable(graph, modules, kinds = ['importedIds']) {
  const found = new Set(modules);
  for (const id of found) {
    const imported = kinds.flatMap((kind) => graph.getModuleInfo(id)?.[kind] ?? []);
    for (const each of imported) found.add(each);
  }
  return found;
}

function source(name) {
  return join(root, 'src', `${name}.ts`);
}
