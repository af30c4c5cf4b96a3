// npm run build && node bench/slices.mjs [calls] [size of a batch]: how long batchling keeps the event loop at a time.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runOnce, startProvider } from './processes.mjs';

const [calls = '50000', size = '50000'] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), 'batchling-slices-'));
const provider = await startProvider();
try {
  const store = join(folder, 'ledger.db');
  print(await runOnce('slices-program.mjs', provider.base, calls, store, size));
} finally {
  await provider.stop();
  await rm(folder, { recursive: true, force: true });
}

function print({ program, count, median, over, longest, places, loading, collections }) {
  console.log(`${count} slices of ours, median ${ms(median)}, ${over} over 10 ms\n`);
  for (const { own, collecting, places: inside } of longest) {
    console.log(`${ms(own)} (and ${ms(collecting)} of garbage collection)`);
    for (const [place, spent] of inside) console.log(`  ${ms(spent)}  ${place}`);
  }
  console.log('\nslices over 10 ms, by the module that took the most of each');
  for (const [module, number] of places) console.log(`  ${number}  ${module}`);
  const { count: times, over: long, longest: most } = collections;
  console.log(`\n${times} garbage collections, ${long} over 10 ms, the longest ${ms(most)}`);
  console.log(
    `loading modules, once: ${ms(loading.total)}, ${loading.over} slices over 10 ms, the longest ${ms(loading.longest)}`,
  );
  for (const { name, busy } of program) console.log(`not counted: ${name}, ${ms(busy)}`);
}

function ms(value) {
  return `${value.toFixed(1).padStart(6)} ms`;
}
