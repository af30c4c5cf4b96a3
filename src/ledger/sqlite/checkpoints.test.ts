import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fingerprintOf, openBench } from '../conformance/subject.test-helper.ts';
import { openTemporary, temporaryFolder } from './test/temporary.test-helper.ts';

const megabyte = 2 ** 20;

function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

describe('the write-ahead log', () => {
  it('does not grow with what is written', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    const { ledger, me, queue } = await openBench({
      name: 'SQLite',
      open: (options) => openTemporary({ ...options, path }),
      kill: { skip: 'not needed' },
    });
    const body = 'x'.repeat(100_000);
    let largest = 0;
    for (let round = 0; round < 20; round += 1) {
      const asks = Array.from({ length: 50 }, (_, index) => {
        const fingerprint = fingerprintOf(round * 50 + index);
        return { fingerprint, occurrence: 0, queue, cache: true };
      });
      const admissions = await ledger.admit(me, asks);
      await ledger.spool(admissions.map(({ request }) => ({ request, body })));
      largest = Math.max(largest, logBytes(path));
    }
    expect(statSync(path).size).toBeGreaterThan(60 * megabyte);
    expect(largest).toBeLessThan(40 * megabyte);
    await ledger.close();
    expect(logBytes(path)).toBe(0);
  });
});
