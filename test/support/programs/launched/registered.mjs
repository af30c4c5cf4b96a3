// A program that knows nothing of batchling. Arguments: URL, how many calls, 'worker' or nothing.
import { isMainThread, Worker, workerData } from 'node:worker_threads';

const [url, calls, form] = isMainThread ? process.argv.slice(2) : workerData;

async function ask() {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-registered', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'registered' }] }),
  });
  const { choices } = await response.json();
  return `${response.headers.get('x-batchling-source')}: ${choices[0].message.content}`;
}

const workers = form === 'worker' && isMainThread ? 2 : 0;
for (let n = 0; n < workers; n += 1) {
  new Worker(new URL(import.meta.url), { workerData: [url, calls] });
}
const answers = await Promise.all(Array.from({ length: Number(calls) }, ask));
for (const answer of answers) console.log(answer);
