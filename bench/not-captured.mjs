import { createServer } from 'node:http';
import { least } from './least.mjs';
import { runOnce } from './processes.mjs';

const rounds = 6;

/** What code that is not captured notices: the wrapper by itself, and a whole request. */
export async function notCaptured() {
  const [bare, outside, inside] = [
    await runOnce('pass-through.mjs', 'bare'),
    await runOnce('pass-through.mjs', 'outside'),
    await runOnce('pass-through.mjs', 'inside'),
  ].map(({ nanoseconds }) => nanoseconds);
  const row = { unit: 'ns', base: bare, ratio: false };
  return [
    {
      ...row,
      what: 'not captured: one fetch, bare / outside a scope',
      ours: outside,
      most: bare + 50,
    },
    {
      ...row,
      what: 'not captured: one fetch, bare / in a scope, other host',
      ours: inside,
      most: bare + 1_000,
    },
    ...(await endToEnd()),
  ];
}

async function endToEnd() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end('{}'));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}/v1/items`;
  const costs = { bare: [], outside: [], inside: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const place of Object.keys(costs)) {
      costs[place].push(await runOnce('end-to-end.mjs', place, url));
    }
  }
  server.close();
  const [bare, outside, inside] = Object.values(costs).map((cost) => least(cost).microseconds);
  const row = { unit: 'µs', base: bare, budget: 1.02 };
  return [
    { ...row, what: 'not captured: a whole request, bare / outside a scope', ours: outside },
    { ...row, what: 'not captured: a whole request, bare / in a scope', ours: inside },
  ];
}

/** What a waiting call holds beyond its body and the promise that any waiting call has. */
export async function waiting() {
  const calls = '100000';
  const floor = await runOnce('pending-memory.mjs', 'floor', calls);
  const ours = await runOnce('pending-memory.mjs', 'ours', calls);
  return [
    {
      what: '100,000 waiting calls: bytes each, a bare promise / batchling',
      unit: 'B',
      base: floor.bytesPerCall,
      ours: ours.bytesPerCall,
      most: floor.bytesPerCall + 1_024,
      ratio: false,
    },
  ];
}
