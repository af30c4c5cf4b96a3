// Where the CPU of a program with many calls goes: node bench/parts.mjs [calls]
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { runOnce, runWithFlags, startProvider } from './processes.mjs';
import { formatTable } from './table.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The part that a module works for. The innermost frame that one of these fits decides. */
const partOfModule = [
  ['ledger', /^src\/ledger/],
  ['capture', /^src\/(hooks|scope)\//],
  ['admit', /^src\/orchestrator\/(capture|queue)/],
  ['plan', /^src\/orchestrator\/(submit\/(?!plan\.)|lanes)/],
  [
    'upload',
    /^src\/(orchestrator\/submit\/plan\.|http\/(upload|multipart)|batchers\/file-batcher)/,
  ],
  ['price', /^src\/(pricing|orchestrator\/answer\/answer-cost)/],
  ['deliver', /^src\/orchestrator\/(answer|events)\//],
  ['collect', /^src\/(orchestrator\/(collect|watch)|batchers|http)/],
];

/** What a profile knows apart from modules. */
const partOfFunction = new Map([
  ['(garbage collector)', 'garbage collection'],
  ['(idle)', undefined],
  ['makePrompts', undefined],
]);

/** Rows for the table of `npm run bench`: CPU per call of each part, beside all of the floor script. */
export async function parts(count) {
  const folder = await mkdtemp(join(root, 'node_modules', '.cache-bench-'));
  const provider = await startProvider();
  try {
    const floor = await runOnce('floor.mjs', provider.base, String(count));
    await promisify(execFile)(process.execPath, [
      join(root, 'scripts', 'bundle.mjs'),
      join(folder, 'dist'),
      '--sourcemap',
    ]);
    const library = pathToFileURL(join(folder, 'dist', 'index.js')).href;
    const profiled = ['--cpu-prof', `--cpu-prof-dir=${folder}`];
    const store = join(folder, 'ledger.db');
    const given = [provider.base, String(count), store, library];
    const { cpuMicroseconds, mainShare } = await runWithFlags(profiled, 'ours.mjs', ...given);
    const [name] = (await readdir(folder)).filter((file) => file.endsWith('.cpuprofile'));
    const profile = JSON.parse(await readFile(join(folder, name), 'utf8'));
    const shares = await sharesOfParts(profile);
    // A profile knows the main thread alone.
    for (const [part, share] of shares) shares.set(part, share * mainShare);
    shares.set('other threads (compiling, garbage, checkpoints)', 1 - mainShare);
    return [...shares]
      .sort(([, one], [, other]) => other - one)
      .map(([part, share]) => ({
        what: `${count.toLocaleString('en')} calls: ${part}, all of the floor / this part`,
        unit: 'µs',
        base: floor.cpuMicroseconds,
        ours: share * cpuMicroseconds,
      }));
  } finally {
    await provider.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A profile samples by the clock on the wall, which a busy machine stretches: only shares count. */
async function sharesOfParts({ nodes, samples, timeDeltas }) {
  const moduleAt = await modulesOf(nodes);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  for (const node of nodes) for (const id of node.children ?? []) byId.get(id).parent = node;
  const partOf = (node) => {
    if (node === undefined) return "Node and the program's own";
    const { callFrame, parent } = node;
    if (partOfFunction.has(callFrame.functionName))
      return partOfFunction.get(callFrame.functionName);
    if (/internal\/modules|bootstrap\/realm/.test(callFrame.url)) return 'loading modules';
    const module = moduleAt(callFrame);
    const found = module && partOfModule.find(([, modules]) => modules.test(module));
    return found ? found[0] : partOf(parent);
  };
  const sums = new Map();
  samples.forEach((id, index) => {
    const part = partOf(byId.get(id));
    if (part) sums.set(part, (sums.get(part) ?? 0) + timeDeltas[index]);
  });
  let total = 0;
  for (const time of sums.values()) total += time;
  return new Map([...sums].map(([part, time]) => [part, time / total]));
}

/** Finds the module of our source that a frame of a bundled file belongs to. */
async function modulesOf(nodes) {
  const maps = new Map();
  for (const { callFrame } of nodes) {
    const { url } = callFrame;
    if (!url.includes('/dist/') || !url.includes('.cache-bench-') || maps.has(url)) continue;
    maps.set(url, new SourceMap(JSON.parse(await readFile(`${fileURLToPath(url)}.map`, 'utf8'))));
  }
  return ({ url, lineNumber, columnNumber }) => {
    const { originalSource } = maps.get(url)?.findEntry(lineNumber, columnNumber) ?? {};
    return originalSource?.replace(/^.*?(src\/)/, '$1');
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(formatTable(await parts(Number(process.argv[2] ?? 50_000))));
}
