// Breaks one behaviour at a time in a copy of the sources, and sees whether its tests notice:
//   npm run test:mutants             all of them; prints docs/mutants.md
//   npm run test:mutants -- creates  those whose name, promise or file holds the word
import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Mutant, mutants } from '../test/mutants/mutants.ts';

type Fate = 'caught' | 'SURVIVED' | 'DOES NOT APPLY' | 'NOT RUN';

const root = fileURLToPath(new URL('..', import.meta.url));
const copied = ['src', 'test', 'scripts', 'docs', 'examples', 'bench'];
const configured = ['package.json', 'vitest.config.ts', 'tsconfig.json', 'README.md'];
/** A test that would wait for ever has noticed. */
const patience = 60_000;

const word = process.argv[2] ?? '';
const chosen = mutants.filter((mutant) => JSON.stringify(mutant).includes(word));
const folder = await mkdtemp(join(tmpdir(), 'batchling-mutants-'));
const fates = new Map<Mutant, Fate>();
try {
  for (const name of [...copied, ...configured]) {
    await cp(join(root, name), join(folder, name), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const mutant of chosen) {
    const fate = await tryMutant(mutant);
    fates.set(mutant, fate);
    console.error(`${fate}: ${mutant.name}`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
console.log(page());
process.exitCode = [...fates.values()].every((fate) => fate === 'caught') ? 0 : 1;

async function tryMutant(mutant: Mutant): Promise<Fate> {
  const path = join(folder, mutant.file);
  const source = await readFile(path, 'utf8').catch(() => '');
  if (!source.includes(mutant.search)) return 'DOES NOT APPLY';
  await writeFile(
    path,
    source.replaceAll(mutant.search, () => mutant.replace),
  );
  try {
    return await runTests(mutant);
  } finally {
    await writeFile(path, source);
  }
}

/** Only a test that ran and failed has noticed anything; a file that cannot be loaded proves nothing. */
async function runTests({ tests, only }: Mutant): Promise<Fate> {
  const report = join(folder, 'report.json');
  await rm(report, { force: true });
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const child = spawn(
    process.execPath,
    [
      ...[vitest, 'run', ...tests, '--bail=1', '--retry=0', `--testTimeout=${patience}`],
      ...['--reporter=json', `--outputFile=${report}`],
      ...(only === undefined ? [] : ['-t', only]),
    ],
    { cwd: folder, stdio: 'ignore', env: { ...process.env, BATCHLING_PROPERTY_SEED: '1' } },
  );
  await new Promise((resolve) => child.once('close', resolve));
  const text = await readFile(report, 'utf8').catch(() => '{}');
  const found = JSON.parse(text) as { numFailedTests?: number; numPassedTests?: number };
  if ((found.numFailedTests ?? 0) > 0) return 'caught';
  return (found.numPassedTests ?? 0) > 0 ? 'SURVIVED' : 'NOT RUN';
}

function page(): string {
  const rows = [...fates].map(
    ([{ promise, name, file, tests }, fate]) =>
      `| ${promise} | ${name} | \`${file}\` | ${tests.map((test) => `\`${test}\``).join(', ')} | ${fate} |`,
  );
  return `# Mutants

\`npm run test:mutants\` breaks one behaviour at a time in a copy of the sources and runs the tests that should
notice. This page is what it printed last (\`npm run docs:mutants\`); it exits with 1 when a mutant survives, or does not apply any
more because the code has changed: then change its entry in \`test/mutants/\`. "Promise" is the number of the promise
in [guarantees.md](guarantees.md) and in the contract: 1 the right answer, 2 never paid twice, 3 nothing lost or hanging, 4 non-intrusive, 5 secrets,
6 timeouts and aborts, 7 bounded memory, 8 queues apart and a free event loop.

| promise | mutant | file | tests | fate |
| --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}
