import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openBench } from '../../conformance/subject.test-helper.ts';
import { firstLine, kill, spawnChild } from '../test/spawn-child.test-helper.ts';
import { openTemporary, query, temporaryFolder } from '../test/temporary.test-helper.ts';

async function openBoth(task: string, count?: number) {
  const path = join(temporaryFolder(), 'ledger.db');
  const bench = await openBench({
    name: 'SQLite',
    open: (options) => openTemporary({ ...options, path }),
    kill: { skip: 'killed for real here' },
  });
  return { path, child: spawnChild(path, task, count), ...bench };
}

describe('an owner in another process', () => {
  it('keeps its work while it runs and loses it when it is killed', async () => {
    const { path, child, ledger, me, ask } = await openBoth('create');
    await firstLine(child);
    const waiting = await ask(1);
    expect(await ask(0)).toMatchObject({ is: 'wait' });
    expect(waiting).toMatchObject({ is: 'wait', batch: expect.any(Number) });
    expect(await ledger.claimable()).toEqual([]);
    expect(readdirSync(`${path}.owners`)).toHaveLength(2);

    await kill(child);
    await expect.poll(() => ledger.claimable()).toHaveLength(1);
    expect(await ask(0)).toMatchObject({ is: 'mine' });
    const [batch] = await ledger.claimable();
    const claimed = await ledger.claim(me, batch!);
    expect(claimed).toMatchObject({ state: 'creating', handle: { fileId: 'file-1' } });
    expect(claimed?.members).toMatchObject([{ request: waiting.request, settled: false }]);
    expect(readdirSync(`${path}.owners`)).toHaveLength(1);
  });

  it('lives on while it is stopped', async () => {
    const { child, ledger, ask } = await openBoth('create');
    await firstLine(child);
    child.kill('SIGSTOP');
    const longerThanAProbeIsTrusted = 150;
    for (let round = 0; round < 3; round += 1) {
      await new Promise((resolve) => setTimeout(resolve, longerThanAProbeIsTrusted));
      expect(await ask(0)).toMatchObject({ is: 'wait' });
      expect(await ledger.claimable()).toEqual([]);
    }
    await kill(child);
    await expect.poll(() => ask(0)).toMatchObject({ is: 'mine' });
  });

  it('frees all requests of a plan in the middle of which it died', async () => {
    const { path, child, ledger, me, ask, queue } = await openBoth('die-planning', 25_000);
    await once(child, 'exit');
    const planned = await query(path, 'SELECT count(*) AS n FROM request WHERE state = 1');
    expect(planned).toEqual([{ n: 2_500 }]);
    expect(await ledger.list()).toEqual([]);

    const taken = await ask(0);
    expect(taken).toMatchObject({ is: 'mine' });
    expect(await ask(24_999)).toMatchObject({ is: 'mine' });
    expect(await ledger.claimable()).toEqual([]);
    expect(await query(path, 'SELECT * FROM batch')).toEqual([]);
    expect(await query(path, 'SELECT * FROM request WHERE batch IS NOT NULL')).toEqual([]);
    await ledger.plan(me, { token: 'again', queue, tags: {} }, [taken.request]);
  });

  it('shares the work with others that ask at the same moment', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    const children = [1, 2, 3].map(() => spawnChild(path, 'admit', 3_000));
    const shares = await Promise.all(children.map(firstLine));
    const all = shares.flatMap(({ mine }) => mine);
    expect(all).toHaveLength(3_000);
    expect(new Set(all).size).toBe(3_000);
  });
});
