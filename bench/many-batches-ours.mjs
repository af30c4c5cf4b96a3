// The same calls in batches of another size: node many-batches-ours.mjs <base URL> <count> <store> <size>
import { batchify } from '../dist/index.js';
import { measure, pollMilliseconds } from './measure.mjs';

const [base, count, store, size] = process.argv.slice(2);
const options = {
  hosts: { [base]: 'openai' },
  store,
  batchSize: Number(size),
  poll: pollMilliseconds,
  display: 'none',
};

await measure(Number(count), (bodies) => {
  return batchify(() => Promise.all(bodies.map(ask)), options);
});

async function ask(body) {
  const response = await fetch(`${base}/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-bench', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.json();
}
