import { killOwner, openTemporary } from '../../src/ledger/sqlite/test/temporary.test-helper.ts';
import { pageApi } from './page-api.ts';

pageApi({ name: 'a SQLite ledger', open: openTemporary, kill: killOwner });
