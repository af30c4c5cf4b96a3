// Exits with code 9 while the thread of a ledger copies its log, which a reader holds up.
import { Checkpoints } from '../../../src/ledger/sqlite/connection/checkpoints.ts';
import { loadDriver } from '../../../src/ledger/sqlite/connection/driver.ts';

const { path } = JSON.parse(process.argv[2] as string) as { path: string };
const { DatabaseSync, source } = await loadDriver();
const database = new DatabaseSync(path, { timeout: 0 });
database.exec('PRAGMA journal_mode = WAL; CREATE TABLE one (a); INSERT INTO one VALUES (1)');
const reader = new DatabaseSync(path, { timeout: 0 });
reader.exec('BEGIN; SELECT * FROM one');
database.exec('INSERT INTO one VALUES (2)');
const checkpoints = new Checkpoints(database, { path, source, log: () => {} });
let steps = 0;
for (;;) {
  checkpoints.written(1_000);
  // The first step has started the thread.
  if (steps === 1) setTimeout(() => process.exit(9), 100);
  await checkpoints.underWay;
  steps += 1;
}
