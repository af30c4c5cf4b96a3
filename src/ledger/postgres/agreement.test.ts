import { it } from 'vitest';
import { expectAgreement } from '../conformance/agreement.test-helper.ts';
import { usePostgres } from './test/temporary.test-helper.ts';

const { open, closeAll } = usePostgres();

it('the memory ledger and the PostgreSQL ledger give the same admissions for any sequence of operations', () =>
  expectAgreement({ open, close: closeAll, runs: 100 }));
