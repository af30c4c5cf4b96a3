import { ledgerConformance } from '../conformance/conformance-suite.test-helper.ts';
import { openMemoryLedger } from './memory-ledger.ts';

ledgerConformance({
  name: 'the memory ledger',
  open: openMemoryLedger,
  kill: { skip: 'a memory ledger dies with its only process' },
});
