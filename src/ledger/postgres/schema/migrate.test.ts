import { expect, it } from 'vitest';
import { openBench } from '../../conformance/subject.test-helper.ts';
import { usePostgres } from '../test/temporary.test-helper.ts';
import { migrations } from './migrate.ts';

const { open, query, newStore, schemaOf } = usePostgres();

/** What the migrations after the first one have added. */
const undoing = ['account', 'queue'].map(
  (table) => `ALTER TABLE test.${table} DROP COLUMN used_at`,
);

it('a ledger of schema 1 is brought up to date with all that is in it', async () => {
  const store = newStore();
  const bench = () =>
    openBench({
      name: 'PostgreSQL',
      open: (options) => open({ ...options, store }),
      kill: { skip: 'not needed' },
    });
  const old = await bench();
  await old.settle(1);
  await old.ledger.close();
  for (const sql of undoing) await query(sql.replace('test.', `${schemaOf(store)}.`));
  const meta = `${schemaOf(store)}.meta`;
  await query(`UPDATE ${meta} SET value = '1' WHERE key = 'schema'`);

  const { ask } = await bench();
  expect(await ask(1)).toMatchObject({ is: 'answered' });
  const [row] = await query(
    `SELECT convert_from(value, 'UTF8') AS version FROM ${meta} WHERE key = 'schema'`,
  );
  expect(row).toEqual({ version: String(migrations.newest) });
});
