import { usePostgres } from '../../src/ledger/postgres/test/temporary.test-helper.ts';
import { pageApi } from './page-api.ts';

const { open, kill } = usePostgres();

pageApi({ name: 'a PostgreSQL ledger', open, kill });
