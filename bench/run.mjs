// npm run bench [-- --quick]: what batchling costs, beside the least any such program must do.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLine } from './command-line.mjs';
import { importing } from './importing.mjs';
import { largeLedger } from './large-ledger.mjs';
import { least } from './least.mjs';
import { manyBatches } from './many-batches.mjs';
import { notCaptured, waiting } from './not-captured.mjs';
import { parts } from './parts.mjs';
import { runOnce, startProvider } from './processes.mjs';
import { storeCost } from './store-cost.mjs';
import { formatTable } from './table.mjs';

const quick = process.argv.includes('--quick');
const sizes = quick
  ? [{ count: 10_000, rounds: 2, budget: 2.5 }]
  : [
      { count: 1, rounds: 5 },
      { count: 1_000, rounds: 5 },
      { count: 10_000, rounds: 5, budget: 2.5 },
      { count: 50_000, rounds: 3, budget: 2 },
      { count: 100_000, rounds: 2, budget: 2 },
    ];
const memoryBudget = 1.5;
const ledgerBudget = 1.15;

const rows = [];
const folder = await mkdtemp(join(tmpdir(), 'batchling-bench-'));
try {
  for (const size of sizes) rows.push(...(await compare(size)));
  rows.push(...(await parts(quick ? 10_000 : 50_000)));
  const stores = quick ? { count: 10_000, rounds: 3 } : { count: 50_000, rounds: 8 };
  rows.push(...(await storeCost(folder, { ...stores, budget: ledgerBudget })));
  rows.push(...(await largeLedger(folder, { count: quick ? 10_000 : 50_000, rounds: 2 })));
  rows.push(
    ...(await manyBatches(
      folder,
      quick
        ? { calls: 10_000, small: 100, large: 5_000, waves: 20, rounds: 1 }
        : { calls: 100_000, small: 100, large: 50_000, waves: 100, rounds: 2 },
    )),
  );
  rows.push(...(await notCaptured()));
  rows.push(...(await waiting()));
  rows.push(...(await importing()));
  rows.push(...(await commandLine()));
} finally {
  await rm(folder, { recursive: true, force: true });
}
console.log(formatTable(rows));

/** Interleaved, so that a machine that slows down or warms up does so for all of them. */
async function compare({ count, rounds, budget }) {
  const programs = {
    floor: () => ['floor.mjs'],
    capture: () => ['capture-floor.mjs'],
    file: (round) => ['ours.mjs', join(folder, `${count}-${round}`, 'ledger.db')],
  };
  const costs = { floor: [], capture: [], file: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, program] of Object.entries(programs)) {
      process.stderr.write(`${count} calls, round ${round + 1} of ${rounds}: ${name}\n`);
      const [script, ...rest] = program(round);
      const provider = await startProvider();
      costs[name].push(await runOnce(script, provider.base, String(count), ...rest));
      await provider.stop();
    }
  }
  const [floor, capture, file] = Object.values(costs).map(least);
  const calls = `${count.toLocaleString('en')} calls`;
  if (count === 1) return [fixedCost(floor, file)];
  return [
    {
      what: `${calls}: CPU per call, floor / batchling`,
      unit: 'µs',
      base: floor.cpuMicroseconds,
      ours: file.cpuMicroseconds,
      budget,
    },
    {
      what: `${calls}: CPU per call, floor / least that captures`,
      unit: 'µs',
      base: floor.cpuMicroseconds,
      ours: capture.cpuMicroseconds,
    },
    {
      what: `${calls}: peak memory, floor / batchling`,
      unit: 'MB',
      base: floor.memoryMegabytes,
      ours: file.memoryMegabytes,
      budget: memoryBudget,
    },
    {
      what: `${calls}: wall time, floor / batchling`,
      unit: 's',
      base: floor.wallSeconds,
      ours: file.wallSeconds,
    },
  ];
}

/** What a program with one call costs from its start to its end, nearly all of it the loading of modules. */
function fixedCost(floor, file) {
  return {
    what: 'one call, from start to end: CPU, floor / batchling',
    unit: 'ms',
    base: floor.cpuMicroseconds / 1000,
    ours: file.cpuMicroseconds / 1000,
    most: 250,
  };
}
