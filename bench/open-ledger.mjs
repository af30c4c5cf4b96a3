// How long it takes to open a ledger once its driver is loaded: node open-ledger.mjs <path>
// The parts of the ledger are no entries of the package: they are loaded from the sources.
import 'tsx';

const connection = '../src/ledger/sqlite/connection';
const { loadDriver } = await import(`${connection}/driver.ts`);
const { openSqliteLedger } = await import(`${connection}/open-sqlite.ts`);

const [path] = process.argv.slice(2);
await loadDriver();
const startedAt = performance.now();
const ledger = await openSqliteLedger({ path });
await ledger.join({ run: 'bench', host: 'bench', pid: process.pid });
const milliseconds = performance.now() - startedAt;
await ledger.close();
process.stdout.write(`${JSON.stringify({ milliseconds })}\n`);
