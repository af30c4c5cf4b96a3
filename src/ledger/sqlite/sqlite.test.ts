import { describe } from 'vitest';
import { ledgerConformance } from '../conformance/conformance-suite.test-helper.ts';
import { killedConformance } from '../conformance/killed.test-helper.ts';
import { unusedConformance } from '../conformance/unused.test-helper.ts';
import { killOwner, openTemporary } from './test/temporary.test-helper.ts';

const subject = { name: 'the SQLite ledger', open: openTemporary, kill: killOwner };
ledgerConformance(subject);
unusedConformance(subject);

describe('the SQLite ledger, when an owner leaves a run that is to be continued', () => {
  killedConformance({
    name: 'the SQLite ledger',
    open: openTemporary,
    kill: (ledger, owner) => ledger.leave(owner, { finished: false }),
  });
});
