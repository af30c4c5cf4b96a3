import { join } from 'node:path';
import { least } from './least.mjs';
import { runOnce, startProvider } from './processes.mjs';

/** Of each of its hundred calls the run remembers that it was asked, and nothing else. */
const bytesPerBatch = 6 * 1024;

/** What batches cost by their number, and what they leave behind when they are finished. */
export async function manyBatches(folder, { calls, small, large, waves, rounds }) {
  const costs = { [small]: [], [large]: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const size of [large, small]) {
      process.stderr.write(`batches of ${size}, round ${round + 1} of ${rounds}\n`);
      const store = join(folder, `batches-of-${size}-${round}`, 'ledger.db');
      const provider = await startProvider();
      const parameters = [provider.base, String(calls), store, String(size)];
      costs[size].push(await runOnce('many-batches-ours.mjs', ...parameters));
      await provider.stop();
    }
  }
  process.stderr.write(`${waves} waves of batches\n`);
  const [few, many] = [least(costs[large]), least(costs[small])];
  const what = `${number(calls)} calls, ${number(calls / large)} batches / ${number(calls / small)}`;
  return [
    {
      what: `${what}: CPU per call`,
      unit: 'µs',
      base: few.cpuMicroseconds,
      ours: many.cpuMicroseconds,
      budget: 1.5,
    },
    {
      what: `${what}: peak memory`,
      unit: 'MB',
      base: few.memoryMegabytes,
      ours: many.memoryMegabytes,
      budget: 1.25,
    },
    { what: `${what}: wall time`, unit: 's', base: few.wallSeconds, ours: many.wallSeconds },
    ...(await leftBehind(folder, waves)),
  ];
}

async function leftBehind(folder, waves) {
  const provider = await startProvider();
  const store = join(folder, 'waves', 'ledger.db');
  const cost = await runOnce('many-batches-waves.mjs', provider.base, store, String(waves));
  await provider.stop();
  const finished = `after ${number(waves * 2.5)} finished batches / ${number(waves * 10)}`;
  return [
    {
      what: `memory in use ${finished}`,
      unit: 'MB',
      base: cost.firstMegabytes,
      ours: cost.lastMegabytes,
      ratio: false,
    },
    {
      what: `resident memory ${finished}`,
      unit: 'MB',
      base: cost.firstResident,
      ours: cost.lastResident,
      ratio: false,
    },
    {
      what: 'memory in use per finished batch of 100',
      unit: 'B',
      base: 0,
      ours: cost.bytesPerBatch,
      most: bytesPerBatch,
      ratio: false,
    },
  ];
}

function number(value) {
  return value.toLocaleString('en');
}
