// The least that captures: the prompts go through a patched fetch inside a scope, each is hashed, and its caller gets a
// response. No ledger, no retries, no checks, no events. node capture-floor.mjs <base URL> <count>
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { batchSize, create, encode, resultsOf, upload } from './floor-wire.mjs';
import { measure } from './measure.mjs';

const [base, count] = process.argv.slice(2);
const scope = new AsyncLocalStorage();
const calls = [];

globalThis.fetch = (url, { body }) => {
  if (scope.getStore() === undefined) throw new TypeError('No scope is open.');
  const { pathname } = new URL(url);
  const fingerprint = createHash('sha256').update(body).digest();
  return new Promise((resolve) => {
    calls.push({ id: `call-${calls.length}`, pathname, body, fingerprint, resolve });
  });
};

await measure(Number(count), (bodies) =>
  scope.run({}, async () => {
    const answers = Promise.all(bodies.map(ask));
    while (calls.length < bodies.length) await nextTurn();
    const waiting = new Map(calls.map((call) => [call.id, call]));
    const collecting = [];
    for (let start = 0; start < calls.length; start += batchSize) {
      const file = await upload(encode(calls.slice(start, start + batchSize), lineOf));
      collecting.push(collect(await create(file), waiting));
    }
    await Promise.all(collecting);
    return answers;
  }),
);

async function ask(body) {
  const response = await fetch(`${base}/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-bench', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.json();
}

function lineOf({ id, body }) {
  return `{"custom_id":"${id}","method":"POST","url":"/v1/chat/completions","body":${body}}`;
}

async function collect(batch, waiting) {
  for await (const line of resultsOf(batch)) {
    const [, id] = /"custom_id":"([^"]+)"/.exec(line);
    const text = line.slice(line.indexOf('"body":') + 7, line.lastIndexOf('},"error":'));
    waiting.get(id).resolve({ status: 200, json: async () => JSON.parse(text) });
  }
}
