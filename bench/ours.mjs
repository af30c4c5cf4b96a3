// The same prompts through batchify(): node ours.mjs <base URL> <count> <store> [URL of the library]
import { measure, pollMilliseconds } from './measure.mjs';

const [base, count, store, library = '../dist/index.js'] = process.argv.slice(2);
const { batchify } = await import(library);
// The last batch may not be full, and would wait for company for five seconds. Less than a second makes many small
// batches of it on a busy machine.
const window = 1_000;
const poll = pollMilliseconds;
const options = { hosts: { [base]: 'openai' }, store, poll, window, display: 'none' };

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
