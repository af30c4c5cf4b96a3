import { join } from 'node:path';
import { runOnce, startProvider } from './processes.mjs';

/**
 * What the durable ledger costs beside one in memory. The two differ by little, so a lucky run of one
 * of them would decide: medians of many rounds, each beginning with the other one.
 */
export async function storeCost(folder, { count, rounds, budget }) {
  const stores = {
    memory: () => ':memory:',
    file: (round) => join(folder, `store-${round}`, 'ledger.db'),
  };
  const costs = { memory: [], file: [] };
  for (let round = 0; round < rounds; round += 1) {
    const names = round % 2 === 0 ? ['memory', 'file'] : ['file', 'memory'];
    for (const name of names) {
      process.stderr.write(`${count} calls, store, round ${round + 1} of ${rounds}: ${name}\n`);
      const provider = await startProvider();
      const parameters = [provider.base, String(count), stores[name](round)];
      costs[name].push(await runOnce('ours.mjs', ...parameters));
      await provider.stop();
    }
  }
  const what = `${count.toLocaleString('en')} calls, store in memory / in a file`;
  const row = (name) => ({ base: median(costs.memory, name), ours: median(costs.file, name) });
  return [
    { what: `${what}: CPU per call`, unit: 'µs', ...row('cpuMicroseconds'), budget },
    { what: `${what}: peak memory`, unit: 'MB', ...row('memoryMegabytes') },
  ];
}

function median(costs, name) {
  const values = costs.map((cost) => cost[name]).sort((a, b) => a - b);
  const middle = values.length / 2;
  return (values[Math.floor(middle)] + values[Math.ceil(middle) - 1]) / 2;
}
