import { expect, it } from 'vitest';
import { openBench, settleWithCosts } from '../../conformance/subject.test-helper.ts';
import { usePostgres } from '../test/temporary.test-helper.ts';
import { migrations } from './migrate.ts';

const { open, query, newStore, schemaOf } = usePostgres();

/** What the migrations after the first one have added. */
const undoing = [
  'DROP TABLE test.daily_cost',
  'DROP TABLE test.outbox',
  'DROP INDEX test.answer_failed',
  'DROP INDEX test.batch_failed',
  'DROP INDEX test.request_waiting',
  'ALTER TABLE test.batch DROP COLUMN traces',
  'ALTER TABLE test.owner DROP COLUMN troubles',
  ...['account', 'queue'].map((table) => `ALTER TABLE test.${table} DROP COLUMN used_at`),
];

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
  await settleWithCosts(old);
  const costs = await old.ledger.costs({ by: ['day', 'model', 'name', 'tag', 'lane'] });
  await old.ledger.close();
  for (const sql of undoing) await query(sql.replace('test.', `${schemaOf(store)}.`));
  const meta = `${schemaOf(store)}.meta`;
  await query(`UPDATE ${meta} SET value = '1' WHERE key = 'schema'`);

  const { ask, ledger } = await bench();
  expect(costs).toMatchObject([{ name: 'nightly', tag: 'a=1', calls: 2, paid: 1, estimate: 3 }]);
  expect(await ledger.costs({ by: ['day', 'model', 'name', 'tag', 'lane'] })).toEqual(costs);
  expect(await ask(1)).toMatchObject({ is: 'answered' });
  const [row] = await query(
    `SELECT convert_from(value, 'UTF8') AS version FROM ${meta} WHERE key = 'schema'`,
  );
  expect(row).toEqual({ version: String(migrations.newest) });
});
