import { statSync } from 'node:fs';
import { openSqliteLedger } from '../../../src/ledger/sqlite/connection/open-sqlite.ts';

/**
 * Writes 100 MB into a new ledger: `node write-much.js <path>`. Prints how long its write-ahead log became,
 * how long it was in the end, and how many threads there were.
 */
const [path = ''] = process.argv.slice(2);
let threads = 0;
process.on('worker', () => {
  threads += 1;
});

const ledger = await openSqliteLedger({ path });
const owner = await ledger.join({ run: 'run', host: 'here', pid: process.pid });
const account = await ledger.account({ provider: 'openai', hash: new Uint8Array(32) });
const base = 'https://api.openai.com/v1';
const model = 'gpt-4o-mini';
const endpoint = '/v1/chat/completions';
const key = { account, provider: 'openai', base, endpoint, model, batchHeaders: {} };
const queue = await ledger.queue(key);
const body = 'x'.repeat(100_000);

let longest = 0;
for (let round = 0; round < 20; round += 1) {
  const asks = Array.from({ length: 50 }, (_, index) => {
    const fingerprint = new Uint8Array(32).fill(7);
    new DataView(fingerprint.buffer).setUint32(0, round * 50 + index);
    return { fingerprint, occurrence: 0, queue, cache: true };
  });
  const admissions = await ledger.admit(owner, asks);
  await ledger.spool(admissions.map(({ request }) => ({ request, body })));
  longest = Math.max(longest, bytesOf(`${path}-wal`));
}
await ledger.close();
const last = bytesOf(`${path}-wal`);
console.log(JSON.stringify({ bytes: bytesOf(path), longest, last, threads }));

function bytesOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
