// The least that a script must do to send a file of OpenAI batch lines and write the answers in their order.
// node map-floor.mjs <base URL> <input> <output>
import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';

const [base, input, output] = process.argv.slice(2);
const authorization = 'Bearer sk-bench';
const batchSize = 10_000;
const out = createWriteStream(output);
let lines = [];
for await (const line of createInterface({ input: createReadStream(input) })) {
  lines.push(line);
  if (lines.length < batchSize) continue;
  await runBatch(lines);
  lines = [];
}
if (lines.length > 0) await runBatch(lines);
out.end();
await new Promise((resolve) => out.once('finish', resolve));
const { user, system } = process.cpuUsage();
process.stdout.write(
  `${JSON.stringify({ cpu: user + system, maxRSS: process.resourceUsage().maxRSS })}\n`,
);

async function runBatch(texts) {
  const ids = texts.map((text) => JSON.parse(text).custom_id);
  const boundary = 'floor-2f6c1d1d7f0e4c55';
  const body =
    `--${boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--${boundary}\r\n` +
    'Content-Disposition: form-data; name="file"; filename="floor.jsonl"\r\nContent-Type: application/jsonl\r\n\r\n' +
    `${texts.join('\n')}\n\r\n--${boundary}--\r\n`;
  const file = await ask(
    'POST',
    '/files',
    { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body,
  );
  const order = {
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  };
  let batch = await ask(
    'POST',
    '/batches',
    { 'content-type': 'application/json' },
    JSON.stringify(order),
  );
  while (batch.status !== 'completed') {
    await sleep(50);
    batch = await ask('GET', `/batches/${batch.id}`);
  }
  const answers = new Map();
  const { body: results } = await request(`${base}/files/${batch.output_file_id}/content`, {
    headers: { authorization },
  });
  for await (const line of createInterface({ input: results }))
    answers.set(JSON.parse(line).custom_id, line);
  await ask('DELETE', `/files/${file.id}`);
  if (!out.write(`${ids.map((id) => answers.get(id)).join('\n')}\n`))
    await new Promise((resolve) => out.once('drain', resolve));
}

async function ask(method, path, headers, body) {
  const reply = await request(`${base}${path}`, {
    method,
    headers: { authorization, ...headers },
    body,
  });
  if (reply.statusCode !== 200) throw new Error(`${method} ${path}: ${await reply.body.text()}`);
  return reply.body.json();
}
