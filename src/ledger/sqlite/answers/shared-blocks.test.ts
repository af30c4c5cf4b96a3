import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openBench } from '../../conformance/subject.test-helper.ts';
import type { LedgerOptions } from '../../ledger-options.ts';
import { loadDriver } from '../connection/driver.ts';
import { openTemporary, temporaryFolder } from '../test/temporary.test-helper.ts';

const bad = (body: string) => ({ status: 400, headers: { id: body }, body });

async function openWithBlock(keep: 'answers' | 'none') {
  const path = join(temporaryFolder(), 'ledger.db');
  const subject = {
    name: 'SQLite',
    open: (options?: LedgerOptions) => openTemporary({ ...options, path }),
    kill: { skip: 'not needed' },
  };
  const bench = await openBench(subject, { keep });
  const { lease, requests } = await bench.send([1, 2, 3]);
  const settlements = requests.map((request, index) => {
    return { request, is: 'answer', answer: bad(`answer ${index + 1}`) } as const;
  });
  await bench.ledger.collected(lease, [...settlements].reverse());
  await bench.ledger.collected(lease, settlements);
  await bench.ledger.ended(lease);
  const blocks = async () => {
    const { DatabaseSync } = await loadDriver();
    const database = new DatabaseSync(path, { timeout: 1_000 });
    const rows = database.prepare('SELECT id FROM answer').all();
    database.close();
    return rows.length;
  };
  return { ...bench, blocks };
}

describe('answers that share a row', () => {
  it('are found one by one and leave one by one; the row goes with the last', async () => {
    const { ask, blocks } = await openWithBlock('answers');
    expect(await blocks()).toBe(1);
    expect(await ask(2)).toMatchObject({ is: 'mine' });
    expect(await ask(1, { waiting: true })).toMatchObject({ answer: bad('answer 1') });
    expect(await ask(3, { waiting: true })).toMatchObject({ answer: bad('answer 3') });
    await ask(1);
    expect(await blocks()).toBe(1);
    await ask(3);
    expect(await blocks()).toBe(0);
  });

  it('go with their owner with keep: "none"', async () => {
    const { ledger, me, blocks } = await openWithBlock('none');
    await ledger.leave(me);
    expect(await blocks()).toBe(0);
  });
});
