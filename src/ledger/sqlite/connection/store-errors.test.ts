import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BatchlingError } from '../../../base/errors.ts';
import { openTemporary, temporaryFolder } from '../test/temporary.test-helper.ts';
import { loadDriver } from './driver.ts';
import { explainStoreError } from './store-errors.ts';

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe('explainStoreError', () => {
  it('explains a full disk', async () => {
    const { DatabaseSync } = await loadDriver();
    const database = new DatabaseSync(join(temporaryFolder(), 'full.db'), { timeout: 0 });
    database.exec('PRAGMA max_page_count = 3; CREATE TABLE t (value)');
    const cause = thrownBy(() => database.exec('INSERT INTO t VALUES (zeroblob(100000))'));
    database.close();
    expect(explainStoreError('/store', cause)).toMatchObject({
      code: 'STORE_UNUSABLE',
      message: /\/store.*disk is full/,
      cause,
    });
  });

  it('explains a read-only file', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    await (await openTemporary({ path })).close();
    const { DatabaseSync } = await loadDriver();
    const database = new DatabaseSync(path, { timeout: 0, readOnly: true });
    const cause = thrownBy(() => database.exec('DELETE FROM request'));
    database.close();
    expect(explainStoreError('/store', cause)).toMatchObject({ message: /is read-only/ });
  });

  it.each([15, 3850, 5130])('takes code %i for a file system without locks', (errcode) => {
    const cause = Object.assign(new Error('locking protocol'), { errcode });
    expect(explainStoreError('/store', cause)).toMatchObject({
      code: 'STORE_UNUSABLE',
      message: /does not support the locks.*local disk/,
    });
  });

  it.each([
    ['EACCES', /permissions/],
    ['EROFS', /read-only/],
    ['ENOSPC', /disk is full/],
  ])('explains the system error %s', (code, message) => {
    const cause = Object.assign(new Error(code), { code });
    expect(explainStoreError('/store', cause)).toMatchObject({ code: 'STORE_UNUSABLE', message });
  });

  it('lets our own errors and unknown ones pass', () => {
    const ours = new BatchlingError('INVARIANT', 'ours');
    const unknown = new TypeError('unknown');
    expect(explainStoreError('/store', ours)).toBe(ours);
    expect(explainStoreError('/store', unknown)).toBe(unknown);
  });
});
