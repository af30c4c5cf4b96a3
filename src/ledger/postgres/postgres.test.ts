import { describe } from 'vitest';
import { ledgerConformance } from '../conformance/conformance-suite.test-helper.ts';
import { killedConformance } from '../conformance/killed.test-helper.ts';
import { unusedConformance } from '../conformance/unused.test-helper.ts';
import { usePostgres } from './test/temporary.test-helper.ts';

const { open, kill } = usePostgres();

ledgerConformance({ name: 'the PostgreSQL ledger', open, kill });
unusedConformance({ name: 'the PostgreSQL ledger', open, kill });

describe('the PostgreSQL ledger, when an owner leaves a run that is to be continued', () => {
  killedConformance({
    name: 'the PostgreSQL ledger',
    open,
    kill: (ledger, owner) => ledger.leave(owner, { finished: false }),
  });
});
