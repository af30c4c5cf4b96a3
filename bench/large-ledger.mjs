import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { least } from './least.mjs';
import { runOnce, startProvider } from './processes.mjs';

const requests = 1_000_000;
const slowdownBudget = 1.5;
const openMilliseconds = 50;

/** What calls cost on a ledger that holds a million requests already, beside an empty one. */
export async function largeLedger(folder, { count, rounds }) {
  process.stderr.write('making a ledger of a million requests\n');
  const seeded = join(folder, 'seeded.db');
  await runOnce('seed-ledger.mjs', seeded, String(requests));
  const empty = [];
  const large = [];
  for (let round = 0; round < rounds; round += 1) {
    process.stderr.write(`large ledger, round ${round + 1} of ${rounds}\n`);
    const place = join(folder, `large-${round}`);
    await mkdir(place);
    const copy = join(place, 'large.db');
    await copyFile(seeded, copy);
    empty.push(await measureOn(join(place, 'empty.db'), count));
    large.push(await measureOn(copy, count));
  }
  const [base, ours] = [least(empty), least(large)];
  return [
    {
      what: `${count.toLocaleString('en')} calls: CPU per call, empty ledger / 1,000,000 requests`,
      unit: 'µs',
      base: base.cpuMicroseconds,
      ours: ours.cpuMicroseconds,
      budget: slowdownBudget,
    },
    {
      what: 'opening a ledger, empty / 1,000,000 requests',
      unit: 'ms',
      base: base.milliseconds,
      ours: ours.milliseconds,
      most: openMilliseconds,
    },
  ];
}

async function measureOn(store, count) {
  const provider = await startProvider();
  const cost = await runOnce('ours.mjs', provider.base, String(count), store);
  await provider.stop();
  return { ...cost, ...(await runOnce('open-ledger.mjs', store)) };
}
