import { ledgerConformance } from '../conformance/conformance-suite.test-helper.ts';
import { killOwner, openTemporary } from './test/temporary.test-helper.ts';

ledgerConformance({
  name: 'the SQLite ledger',
  open: openTemporary,
  kill: killOwner,
});
