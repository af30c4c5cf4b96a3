// How long it takes to open a ledger once its driver is loaded: node open-ledger.mjs <path>
import { loadDriver } from '../dist/ledger/sqlite/connection/driver.js';
import { openSqliteLedger } from '../dist/ledger/sqlite/connection/open-sqlite.js';

const [path] = process.argv.slice(2);
await loadDriver();
const startedAt = performance.now();
const ledger = await openSqliteLedger({ path });
await ledger.join({ run: 'bench', host: 'bench', pid: process.pid });
const milliseconds = performance.now() - startedAt;
await ledger.close();
process.stdout.write(`${JSON.stringify({ milliseconds })}\n`);
