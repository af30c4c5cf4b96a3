// Dependence points downward only. Fails on an arrow that points up, with the file and the line.
// The folder to look at may be given; otherwise it is src/.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const source = resolve(process.argv[2] ?? fileURLToPath(new URL('../src', import.meta.url)));

/** A part may import from its own part and from parts of a lower rank. */
const ranks = {
  cli: 6,
  gateway: 5.5,
  entry: 5,
  scope: 4,
  options: 3.6,
  report: 3.5,
  hooks: 3,
  orchestrator: 3,
  batchers: 2,
  ledger: 2,
  streams: 1.5,
  pricing: 1.5,
  http: 1,
  base: 0,
};

/**
 * Inside the orchestrator the arrows follow the walk of a call. Batches of other owners come in before
 * they are submitted; what is yet to come may be used by what was before it. A dry run uses all of it.
 */
const steps = ['collect', 'watch', 'submit', 'takeover', 'queue', 'capture', 'dry-run'];

/** Files at the top of src/ that all parts share. The others there are the entries of the package. */
const base = new Set([
  'errors.ts',
  'event-loop.ts',
  'types.ts',
  'docs-page.ts',
  'duration.ts',
  'run-variables.ts',
  'store-address.ts',
  'version.ts',
  'bundlers.ts',
]);

/**
 * Only the registry knows the concrete batchers. Only open-ledger.ts and the CLI know the concrete
 * ledgers, and only the composition root and the CLI open one.
 */
const concrete = [
  {
    target:
      /^batchers\/(?!(batcher|provider-info|limit-settings|registry|wildcards|llm-wires|index|shared\/refused-error|shared\/replies)\.)/,
    except: /^batchers\//,
  },
  { target: /^ledger\/(?!(ledger|open-ledger)\.)/, except: /^(ledger|cli)\// },
  { target: /^ledger\/open-ledger\./, except: /^(scope\/engines\.ts$|cli\/)/ },
  ...['memory', 'sqlite', 'postgres'].map((kind) => ({
    target: new RegExp(`^ledger/${kind}/`),
    except: new RegExp(`^(ledger/${kind}/|ledger/open-(ledger|contents)\\.ts$|cli/)`),
  })),
];

function partOf(file) {
  const [first, ...rest] = file.split('/');
  if (rest.length > 0) return first;
  return base.has(first) ? 'base' : 'entry';
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/\.test(-helper)?\.ts$/.test(file));
}

function problem(from, to) {
  const [a, b] = [partOf(from), partOf(to)];
  if (a === 'simulator' || b === 'simulator') {
    const mayUseSimulator = a === b || a === 'cli';
    return mayUseSimulator ? undefined : 'the simulator stands alone';
  }
  for (const { target, except } of concrete) {
    if (target.test(to) && !except.test(from)) return `${to} is known to its own part only`;
  }
  if (a === 'orchestrator' && b === a) return againstTheWalk(from, to);
  if (a === b || ranks[a] > ranks[b]) return undefined;
  return `${a} must not depend on ${b}`;
}

/** Of two steps of the walk, or of a step and the model that all of them use. */
function againstTheWalk(from, to) {
  const [step, next] = [from, to].map((file) => file.split('/')[1]);
  if (step === next || next === 'model' || step.endsWith('.ts')) return undefined;
  const isDown = steps.includes(step) && steps.indexOf(step) > steps.indexOf(next);
  return isDown && steps.includes(next) ? undefined : `${step} must not depend on ${next}`;
}

let wrong = 0;
for (const file of filesBelow(source)) {
  const from = relative(source, file);
  readFileSync(file, 'utf8')
    .split('\n')
    .forEach((line, index) => {
      const [, path] = /(?:\bfrom|\bimport)\s*\(?\s*['"](\.[^'"]+)['"]/.exec(line) ?? [];
      if (path === undefined) return;
      const to = relative(source, join(dirname(file), path));
      const reason = to.startsWith('..') ? 'it leaves src/' : problem(from, to);
      if (reason === undefined) return;
      wrong += 1;
      console.error(`src/${from}:${index + 1} imports ${to}: ${reason}`);
    });
}
if (wrong > 0) process.exit(1);
console.log('Imports point the right way.');
