// 5,000 prompts for a server of your own that has no batch API, and is killed twice meanwhile. Its calls go out one
// by one, a few at a time; what it has answered is in the ledger, and the rest waits until it is there again.
//
//   npx tsx examples/own-server.ts           run it again: all answers come from the ledger
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { batchify } from 'batchling';
import OpenAI from 'openai';

const [count = 5_000, port = 8_123] = process.argv.slice(2).map(Number);
const baseURL = `http://127.0.0.1:${port}/v1`;
const openai = new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 });

async function startServer(): Promise<ChildProcess> {
  const script = new URL('small-server.mjs', import.meta.url).pathname;
  const server = spawn(process.execPath, [script, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(server.stdout, 'data');
  return server;
}

async function ask(number: number): Promise<string | null | undefined> {
  const completion = await openai.chat.completions.create({
    model: 'house-model',
    messages: [{ role: 'user', content: `Prompt ${number}` }],
  });
  return completion.choices[0]?.message.content;
}

let server = await startServer();
let kills = 0;
// Calls that the server has when it is killed break off, so that one call may need several attempts.
const scope = batchify({ hosts: { [baseURL]: 'openai' }, attempts: 5, realtimeConcurrency: 32 });
scope.on('call:answered', async ({ source }) => {
  const { answered } = scope.stats;
  if (source !== 'realtime' || kills === 2 || answered < ((kills + 1) * count) / 3) return;
  kills += 1;
  server.kill('SIGKILL');
  await once(server, 'exit');
  server = await startServer();
});

const numbers = Array.from({ length: count }, (_, index) => index);
const answers = await scope.run(() => Promise.all(numbers.map(ask)));
await scope.close();
server.kill();

const right = answers.filter((answer, index) => answer === `It says: Prompt ${index}`).length;
const { fromLedger, realtime, failed, maybePaidTwice } = scope.stats;
console.log(JSON.stringify({ right, kills, realtime, fromLedger, failed, maybePaidTwice }));
