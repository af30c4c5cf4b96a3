import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { least } from './least.mjs';

const cli = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const rounds = 15;
const most = { help: 150, run: 200 };

/** How long the help takes, and what `batchling run` adds to the start of a program. */
export async function commandLine() {
  const folder = await mkdtemp(join(tmpdir(), 'batchling-bench-cli-'));
  const program = join(folder, 'program.mjs');
  await writeFile(program, 'await 1;');
  const costs = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      costs.push({
        bare: await milliseconds(program),
        help: await milliseconds(cli, '--help'),
        run: await milliseconds(cli, 'run', program),
      });
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const { bare, help, run } = least(costs);
  return [
    { what: 'batchling --help, bare Node / batchling', ours: help, most: most.help },
    {
      what: 'batchling run, bare Node / batchling',
      ours: run,
      most: bare + most.run,
      ratio: false,
    },
  ].map((row) => ({ unit: 'ms', base: bare, ...row }));
}

/** From the start of a process to its end. */
async function milliseconds(...given) {
  const began = performance.now();
  const child = spawn(process.execPath, given, { stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${given.join(' ')} ended with ${code}.`);
  return performance.now() - began;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { formatTable } = await import('./table.mjs');
  console.log(formatTable(await commandLine()));
}
