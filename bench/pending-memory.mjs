// How much memory of ours a waiting call holds beyond its body: prints bytes per call.
// node --expose-gc bench/pending-memory.mjs <calls>
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { batchify } from '../dist/index.js';

const calls = Number(process.argv[2] ?? 100_000);
const folder = mkdtempSync(join(tmpdir(), 'batchling-bench-'));
const url = 'http://127.0.0.1:9/v1/chat/completions';
const scope = batchify({
  hosts: { 'http://127.0.0.1:9/v1': 'openai' },
  store: join(folder, 'ledger.db'),
  window: '1h',
  maxWindow: '1h',
  batchSize: 50_000_000,
  display: 'none',
});
const body = (n) => JSON.stringify({ model: 'm', messages: [{ role: 'user', content: `prompt ${n}` }] });
const headers = { authorization: 'Bearer sk-bench', 'content-type': 'application/json' };

async function hold(from, count) {
  let bytes = 0;
  for (let n = from; n < from + count; n += 1) {
    const text = body(n);
    bytes += text.length;
    void scope.run(() => fetch(url, { method: 'POST', headers, body: text }));
  }
  while (scope.stats.captured < from + count) await sleep(20);
  await sleep(200);
  gc();
  return bytes;
}

// The engine, its modules and its caches are there before the count starts.
await hold(0, 1_000);
const before = process.memoryUsage();
const bodies = await hold(1_000, calls);
const after = process.memoryUsage();
const heap = after.heapUsed + after.external - before.heapUsed - before.external;
console.log(JSON.stringify({ bytesPerCall: (heap - bodies) / calls }));
rmSync(folder, { recursive: true, force: true });
process.exit(0);
