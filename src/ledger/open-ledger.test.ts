import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { BatchlingError } from '../base/errors.ts';
import { openLedger } from './open-ledger.ts';
import { temporaryFolder } from './sqlite/test/temporary.test-helper.ts';

describe('opening a ledger by the text of its store', () => {
  it('opens one that ends with the process for ":memory:"', async () => {
    const ledger = await openLedger(':memory:');
    expect(await ledger.list()).toEqual([]);
    await ledger.close();
    expect(existsSync(':memory:')).toBe(false);
  });

  it('opens a file for a path', async () => {
    const path = join(temporaryFolder(), 'some', 'ledger.db');
    const ledger = await openLedger(path, { keep: 'all' });
    expect(existsSync(path)).toBe(true);
    await ledger.close();
  });

  it.each([
    'postgres://me:hunter2@127.0.0.1:1/database?schema=No',
    'PostgreSQL://me:hunter2#@host/database',
  ])('says what is wrong with a URL, without the password: %s', async (store) => {
    const error = await openLedger(store).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(BatchlingError);
    expect(error).toMatchObject({ code: 'INVALID_OPTION' });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('hunter2');
  });
});
