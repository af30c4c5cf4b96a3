import { describe, expect, it } from 'vitest';
import { ledgerConformance } from '../conformance/conformance-suite.test-helper.ts';
import { killedConformance } from '../conformance/killed.test-helper.ts';
import { openBench } from '../conformance/subject.test-helper.ts';
import { unusedConformance } from '../conformance/unused.test-helper.ts';
import { usePostgres } from './test/temporary.test-helper.ts';

const { open, kill, newStore, query, schemaOf } = usePostgres();

ledgerConformance({ name: 'the PostgreSQL ledger', open, kill });
unusedConformance({ name: 'the PostgreSQL ledger', open, kill });

describe('the PostgreSQL ledger, when an owner leaves a run that is to be continued', () => {
  killedConformance({
    name: 'the PostgreSQL ledger',
    open,
    kill: (ledger, owner) => ledger.leave(owner, { finished: false }),
  });
});

it('a provider may say what the server cannot store', async () => {
  const { ledger, send } = await openBench({ name: 'the PostgreSQL ledger', open, kill });
  const { lease } = await send([1]);
  await ledger.refused(lease, 'bad character: \0');
  expect(await ledger.list()).toMatchObject([
    { state: 'refused', failure: 'bad character: \uFFFD' },
  ]);
});

it('finds what waits by one statement, however far below the newest request it is', async () => {
  const store = newStore();
  const subject = { name: 'the PostgreSQL ledger', kill };
  const { ledger, ask } = await openBench({ ...subject, open: (more) => open({ ...more, store }) });
  await ask(1);
  await query(`SELECT setval('${schemaOf(store)}.request_id', 2000000000)`);
  await ask(2);
  expect(await ledger.view.waiting()).toMatchObject({ queues: [{ count: 2 }], isMore: false });
});
