// Bundles the modules of the package: node scripts/bundle.mjs [folder]. The start of a program pays for each
// file that Node has to find, read and link. What is imported lazily stays lazy.
import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = resolve(process.argv[2] ?? join(root, 'dist'));

/** Processes under `batchling run` and `exec` import these by their address (src/cli/launch/own-modules.ts). */
const namedByAddress = ['cli/launch/call-export', 'cli/launch/use-config'];

/** What starts with these modules shall load few files. What several of them need at once has a file of its own. */
const starts = {
  library: ['index', 'core', 'register'],
  command: ['cli/program'],
  launch: ['cli/run', 'cli/exec'],
};

rmSync(folder, { recursive: true, force: true });
await bundle();

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
  });
  await bundler.write({
    dir: folder,
    format: 'esm',
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

/**
 * A module belongs to all starts that load it. Entries stay in their own files: what they do when they are
 * loaded is meant for those who name them.
 */
function chunkOf(entries) {
  const apart = new Set(entries.map(source));
  let loaded;
  return (id, graph) => {
    loaded ??= Object.entries(starts).map(([start, names]) => [
      start,
      reachable(graph, names.map(source)),
    ]);
    const needing = apart.has(id) ? [] : loaded.filter(([, modules]) => modules.has(id));
    return needing.length === 0 ? null : needing.map(([start]) => start).join('-');
  };
}

/** These modules, and what they import other than lazily. */
function reachable(graph, modules) {
  const found = new Set(modules);
  for (const id of found) {
    for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) found.add(imported);
  }
  return found;
}

function source(name) {
  return join(root, 'src', `${name}.ts`);
}
