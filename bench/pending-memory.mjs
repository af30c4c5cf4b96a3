// What a waiting call holds beyond its body: node --expose-gc pending-memory.mjs floor|ours <calls>
// The floor is a promise that nobody settles: every waiting call has one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { batchify } from '../dist/index.js';

const [kind, count] = process.argv.slice(2);
const calls = Number(count);
const base = 'http://127.0.0.1:9/v1';
const folder = mkdtempSync(join(tmpdir(), 'batchling-bench-'));
const scope = batchify({
  hosts: { [base]: 'openai' },
  store: join(folder, 'ledger.db'),
  window: '1h',
  maxWindow: '1h',
  batchSize: 50_000_000,
  display: 'none',
});
const headers = { authorization: 'Bearer sk-bench', 'content-type': 'application/json' };
const held = [];

function ask(body) {
  if (kind === 'floor') held.push(body);
  return kind === 'floor'
    ? new Promise(() => undefined)
    : fetch(`${base}/chat/completions`, { method: 'POST', headers, body });
}

async function hold(from, number) {
  for (let n = from; n < from + number; n += 1) {
    const messages = [{ role: 'user', content: `prompt ${n}` }];
    held.push(scope.run(() => ask(JSON.stringify({ model: 'm', messages }))));
  }
  while (kind === 'ours' && scope.stats.captured < from + number) await sleep(20);
  await sleep(200);
  gc();
}

// The engine, its modules and its caches are there before the count starts.
await hold(0, 1_000);
const before = process.memoryUsage();
await hold(1_000, calls);
const after = process.memoryUsage();
const bytes = after.heapUsed + after.external - before.heapUsed - before.external;
process.stdout.write(`${JSON.stringify({ bytesPerCall: bytes / calls })}\n`);
rmSync(folder, { recursive: true, force: true });
process.exit(0);
