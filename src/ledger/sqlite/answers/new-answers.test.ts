import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bad, good, openBench } from '../../conformance/subject.test-helper.ts';
import type { LedgerOptions } from '../../ledger-options.ts';
import { awaitCheckpoint } from '../test/await-checkpoint.test-helper.ts';
import { firstLine, kill, spawnChild } from '../test/spawn-child.test-helper.ts';
import { openTemporary, query, temporaryFolder } from '../test/temporary.test-helper.ts';

type Counts = { entered: number; blocks: number; waiting: number };

async function openAt(path: string, options: Pick<LedgerOptions, 'keep'> = {}) {
  const open = (more?: LedgerOptions) => openTemporary({ ...more, path });
  return openBench({ name: 'SQLite', open, kill: { skip: 'not needed' } }, options);
}

/** Rows that name their block, blocks of answers, and blocks that are still to be entered into rows. */
async function look(path: string): Promise<Counts> {
  const [counts] = await query(
    path,
    `SELECT (SELECT count(*) FROM request WHERE answer IS NOT NULL) AS entered,
       (SELECT count(*) FROM answer) AS blocks, (SELECT count(*) FROM answer_new) AS waiting`,
  );
  return counts as Counts;
}

async function collectSome(options: Pick<LedgerOptions, 'keep'> = {}) {
  const path = join(temporaryFolder(), 'ledger.db');
  const bench = await openAt(path, options);
  const { lease, requests } = await bench.send([1, 2, 3, 4]);
  const [one, two, three, four] = requests as [number, number, number, number];
  await bench.ledger.collected(lease, [
    { request: three, is: 'answer', answer: good },
    { request: one, is: 'answer', answer: good },
    { request: two, is: 'answer', answer: bad },
  ]);
  expect(await look(path)).toEqual({ entered: 0, blocks: 2, waiting: 2 });
  return { ...bench, path, lease, one, two, three, four };
}

describe('answers that the rows of their requests do not name yet', () => {
  it('are served at once, to this process and to others', async () => {
    const { path, ask, one } = await collectSome();
    const other = await openAt(path);
    expect(await other.ask(1)).toMatchObject({ request: one, is: 'answered', answer: good });
    expect(await look(path)).toEqual({ entered: 1, blocks: 2, waiting: 2 });
    expect(await ask(3)).toMatchObject({ is: 'answered', answer: good });
    expect(await other.ask(2, { waiting: true })).toMatchObject({ is: 'answered', answer: bad });
    expect(await other.ask(4)).toMatchObject({ is: 'wait', batch: expect.any(Number) });
    expect(await other.ledger.list()).toMatchObject([{ answered: 3 }]);
  });

  it('are entered into the rows when the batch ends, once', async () => {
    const { path, ledger, lease, ask } = await collectSome();
    await ask(1);
    await ledger.ended(lease);
    expect(await look(path)).toEqual({ entered: 3, blocks: 2, waiting: 0 });
    expect(await ledger.list()).toMatchObject([{ answered: 3 }]);
  });

  it('are entered although they come while the batch is being ended', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    const { ledger, ask, send } = await openAt(path);
    const { lease, requests } = await send([1]);
    await awaitCheckpoint(ledger);
    const ending = ledger.ended(lease);
    await ledger.collected(lease, [{ request: requests[0]!, is: 'answer', answer: good }]);
    await ending;
    expect(await ask(1)).toMatchObject({ is: 'answered', answer: good });
    expect(await look(path)).toEqual({ entered: 1, blocks: 1, waiting: 0 });
  });

  it('are entered into the rows when their owner leaves', async () => {
    const { path, ledger, me } = await collectSome();
    await ledger.leave(me);
    expect(await look(path)).toEqual({ entered: 3, blocks: 2, waiting: 0 });
  });

  it('go with their owner with keep: "none"', async () => {
    const { path, ledger, me } = await collectSome({ keep: 'none' });
    await ledger.leave(me);
    expect(await look(path)).toEqual({ entered: 0, blocks: 0, waiting: 0 });
  });

  it('stay when another request of their block is asked for anew', async () => {
    const { path, ledger, lease, two, four } = await collectSome();
    await ledger.collected(lease, [{ request: four, is: 'answer', answer: { ...bad, body: '4' } }]);
    const other = await openAt(path);
    expect(await other.ask(2)).toEqual({ request: two, occurrence: 0, is: 'mine' });
    expect(await other.ask(4, { waiting: true })).toMatchObject({ answer: { body: '4' } });
    await ledger.ended(lease);
    expect(await other.ask(2)).toEqual({ request: two, occurrence: 0, is: 'wait' });
    expect(await look(path)).toEqual({ entered: 3, blocks: 2, waiting: 0 });
  });

  it('survive a prune, also when their owner was killed', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    const child = spawnChild(path, 'collect', 40);
    const { mine } = await firstLine(child);
    const { ledger, me, ask } = await openAt(path);
    const olderThan = -60_000;
    expect(await ledger.prune({ olderThan, maxBytes: 0 })).toMatchObject({ requests: 0 });
    await kill(child);
    await expect.poll(() => ledger.claimable()).toHaveLength(1);
    expect(await look(path)).toMatchObject({ entered: 0, waiting: 1 });
    expect(await ledger.prune({ olderThan, maxBytes: 0 })).toMatchObject({ requests: 0 });

    expect(await ask(3)).toMatchObject({ is: 'answered', answer: { body: 'answer to 3' } });
    const [batch] = await ledger.claimable();
    const claimed = await ledger.claim(me, batch!);
    expect(claimed).toMatchObject({ state: 'accepted', cursor: 'cursor-1' });
    const settled = claimed?.members.filter(({ settled: is }) => is).map(({ request }) => request);
    expect(settled).toEqual(mine.slice(0, 20));
    expect(await look(path)).toMatchObject({ entered: 20, waiting: 0 });
    await ledger.ended(claimed!.lease);
    expect(await ask(19)).toMatchObject({ is: 'answered', answer: { body: 'answer to 19' } });
    expect(await ask(20)).toMatchObject({ is: 'wait' });
  });

  it('can be claimed while their collector does not know that its lease is stale', async () => {
    const { path, ledger, lease, me, four } = await collectSome();
    const other = await openAt(path);
    await ledger.leave(me);
    const claimed = await other.ledger.claim(other.me, lease.batch);
    const late = [{ request: four, is: 'answer', answer: bad }] as const;
    await expect(ledger.collected(lease, late)).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await other.ledger.collected(claimed!.lease, [{ request: four, is: 'answer', answer: good }]);
    await other.ledger.ended(claimed!.lease);
    expect(await other.ask(4)).toMatchObject({ is: 'answered', answer: good });
    expect(await look(path)).toMatchObject({ entered: 4, waiting: 0 });
  });
});
