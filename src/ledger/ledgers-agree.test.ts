import { it } from 'vitest';
import { expectAgreement } from './conformance/agreement.test-helper.ts';
import { closeTemporary, openTemporary } from './sqlite/test/temporary.test-helper.ts';

it('the memory ledger and the SQLite ledger give the same admissions for any sequence of operations', () =>
  expectAgreement({ open: openTemporary, close: closeTemporary, runs: 100 }));
