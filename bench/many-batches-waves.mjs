// What finished batches leave behind: node --expose-gc many-batches-waves.mjs <base URL> <store> <waves>
// Each wave is ten batches of a hundred calls, all answered before the next begins.
import { setTimeout as sleep } from 'node:timers/promises';
import { batchify } from '../dist/index.js';
import { bodyOf, makePrompts } from './bodies.mjs';
import { pollMilliseconds } from './measure.mjs';

const [base, store, count] = process.argv.slice(2);
const waves = Number(count);
const batches = 10;
const size = 100;
const [prompt] = makePrompts(1);
const scope = batchify({
  hosts: { [base]: 'openai' },
  store,
  batchSize: size,
  poll: pollMilliseconds,
  display: 'none',
});

async function ask(number) {
  const response = await fetch(`${base}/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-bench', 'content-type': 'application/json' },
    body: JSON.stringify(bodyOf(`${number}: ${prompt}`)),
  });
  await response.arrayBuffer();
}

async function wave(number) {
  const calls = Array.from({ length: batches * size }, (_, index) => index);
  await scope.run(() => Promise.all(calls.map((index) => ask(number * calls.length + index))));
}

/** What is alive, once the batches of the wave are cleaned up, too. */
async function alive() {
  await sleep(100);
  gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { bytes: heapUsed + external, rss };
}

const sizes = [];
for (let number = 0; number < waves; number += 1) {
  await wave(number);
  sizes.push(await alive());
}
await scope.close();

// The first waves fill caches that stay.
const from = Math.floor(waves / 4);
const [first, last] = [sizes[from], sizes.at(-1)];
const finished = (waves - 1 - from) * batches;
const cost = {
  firstMegabytes: first.bytes / 2 ** 20,
  lastMegabytes: last.bytes / 2 ** 20,
  firstResident: first.rss / 2 ** 20,
  lastResident: last.rss / 2 ** 20,
  bytesPerBatch: (last.bytes - first.bytes) / finished,
};
process.stdout.write(`${JSON.stringify(cost)}\n`);
