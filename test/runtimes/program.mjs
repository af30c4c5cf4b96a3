// Uses the installed package in every way that a program does, and prints what came out as JSON. Started by
// scripts/test-runtimes.sh on Node, Bun and Deno; all of them must print the same.
import { request } from 'node:http';
import { batchify, realtime } from 'batchling';
import { batchify as coreBatchify } from 'batchling/core';
import { startSimulator } from 'batchling/simulator';
import OpenAI from 'openai';

const simulator = await startSimulator({ speed: { validating: 0, running: 5, finalizing: 0 } });
const base = simulator.baseUrl('openai');
const options = {
  hosts: { [base]: 'openai' },
  store: 'runtimes/ledger.db',
  window: '50ms',
  poll: '20ms',
  display: 'none',
};
const openai = new OpenAI({ apiKey: 'any', baseURL: base });
const messages = [{ role: 'user', content: 'hello' }];
const body = { model: 'gpt-5-mini', messages };
const url = `${base}/chat/completions`;
const headers = { authorization: 'Bearer any', 'content-type': 'application/json' };
const post = (more = {}) =>
  fetch(url, { method: 'POST', headers, body: JSON.stringify(body), ...more });
const sourceOf = (response) => response.headers.get('x-batchling-source') ?? 'plain';

const cases = {
  async fetch() {
    return sourceOf(await post());
  },
  async sdk() {
    const { response } = await openai.chat.completions.create(body).withResponse();
    return sourceOf(response);
  },
  async stream() {
    let pieces = 0;
    for await (const _ of await openai.chat.completions.create({ ...body, stream: true }))
      pieces += 1;
    return pieces > 1 ? 'streamed' : 'whole';
  },
  nodeHttp() {
    return new Promise((resolve, reject) => {
      const call = request(url, { method: 'POST', headers }, (response) => {
        response
          .resume()
          .on('end', () => resolve(response.headers['x-batchling-source'] ?? 'plain'));
      });
      call.on('error', reject).end(JSON.stringify(body));
    });
  },
  async realtime() {
    return sourceOf(await realtime(() => post()));
  },
  async timeout() {
    return sourceOf(await post({ signal: AbortSignal.timeout(5) }));
  },
  async abort() {
    const controller = new AbortController();
    const outcome = post({ signal: controller.signal }).then(sourceOf, ({ name }) => name);
    queueMicrotask(() => controller.abort());
    return outcome;
  },
};

const found = {};
// A ledger of its own for each: identical calls of one run are samples.
for (const [name, work] of Object.entries(cases)) {
  found[name] = await batchify(work, { ...options, store: `runtimes/${name}.db` });
}
const entered = await batchify({ ...options, store: ':memory:' }).enter();
found.enter = await entered.run(cases.fetch);
await entered.close();
const scope = coreBatchify({ ...options, store: ':memory:' });
const own = new OpenAI({ apiKey: 'any', baseURL: base, fetch: scope.fetch });
found.core = sourceOf((await own.chat.completions.create(body).withResponse()).response);
found.outside = sourceOf(await post());
await scope.close();
await simulator.close();
console.log(JSON.stringify(found));
