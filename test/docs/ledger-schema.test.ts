import { join } from 'node:path';
import { expect, it } from 'vitest';
import { migrations as inPostgres } from '../../src/ledger/postgres/schema/migrate.ts';
import { migrations as inSqlite } from '../../src/ledger/sqlite/schema/migrate.ts';
import {
  openTemporary,
  query,
  temporaryFolder,
} from '../../src/ledger/sqlite/test/temporary.test-helper.ts';
import { readPage } from './code-blocks.ts';

const page = readPage('docs/ledger-schema.md');

it('docs/ledger-schema.md names the versions of both schemas', () => {
  expect(page).toContain(`SQLite, version ${inSqlite.newest}.`);
  expect(page).toContain(`Version ${inPostgres.newest} has the same tables`);
});

it('docs/ledger-schema.md explains every table and every column of a ledger', async () => {
  const path = join(temporaryFolder(), 'ledger.db');
  await openTemporary({ path });
  const columns = (await query(
    path,
    `SELECT tables.name AS "table", columns.name AS "column"
     FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
     WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%'`,
  )) as { table: string; column: string }[];
  // What is said of a table follows its name in bold.
  const about = (table: string) =>
    page.split(/^(?=\*\*`)/m).find((part) => part.split('\n')[0]?.includes(`**\`${table}\`**`)) ??
    '';
  const untold = columns.filter(
    ({ table, column }) => !new RegExp(`\\b${column}\\b`).test(about(table).split('### ')[0] ?? ''),
  );
  expect(columns.length).toBeGreaterThan(60);
  expect(untold).toEqual([]);
});
