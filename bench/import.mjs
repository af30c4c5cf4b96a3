// What importing batchling costs a program that does nothing else: node import.mjs bare|batchling
const [what] = process.argv.slice(2);
if (what === 'batchling') await import('../dist/index.js');
// From the start of the process, so that both have loaded Node itself.
const cost = {
  milliseconds: performance.now(),
  megabytes: process.memoryUsage.rss() / 2 ** 20,
};
process.stdout.write(`${JSON.stringify(cost)}\n`);
