import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bad, good, openBench } from '../../conformance/subject.test-helper.ts';
import type { RequestId } from '../../ledger.ts';
import { openTemporary, query, temporaryFolder } from '../test/temporary.test-helper.ts';
import { ENTERED_TOGETHER } from './new-answers.ts';

async function open() {
  const path = join(temporaryFolder(), 'ledger.db');
  const bench = await openBench({
    name: 'SQLite',
    open: (options) => openTemporary({ ...options, path }),
    kill: { skip: 'not needed' },
  });
  return { ...bench, path };
}

async function look(path: string): Promise<unknown> {
  const [counts] = await query(
    path,
    `SELECT (SELECT count(*) FROM request WHERE answer IS NOT NULL) AS entered,
       (SELECT count(*) FROM answer) AS blocks, (SELECT count(*) FROM answer_new) AS waiting,
       (SELECT count(*) FROM body) AS bodies`,
  );
  return counts;
}

function answerTo(request: RequestId, answer = good) {
  return { request, is: 'answer', answer } as const;
}

describe('entering answers into the rows of their requests', () => {
  it('happens before the end of the batch when there are very many, each into its own row', async () => {
    const { path, ledger, send, ask } = await open();
    const count = ENTERED_TOGETHER + 3_000;
    const { lease, requests } = await send(Array.from({ length: count }, (_, index) => index));
    const settlements = requests.map((request, index) => {
      return answerTo(request, { ...(index % 7 === 0 ? bad : good), body: `${index}` });
    });
    const step = 7_919;
    const shuffled = settlements.map((_, index) => settlements[(index * step) % count]!);
    await ledger.collected(lease, shuffled);
    const [entered] = await query(
      path,
      'SELECT count(*) AS n FROM request WHERE answer IS NOT NULL',
    );
    expect((entered as { n: number }).n).toBeGreaterThanOrEqual(ENTERED_TOGETHER);
    expect((entered as { n: number }).n).toBeLessThan(count);
    expect((await ledger.list())[0]).toMatchObject({ state: 'accepted', answered: count });
    await ledger.ended(lease);
    expect(await look(path)).toMatchObject({ entered: count, waiting: 0 });
    for (const number of [0, 1, 2_499, 2_500, 7_000, count - 1]) {
      const served = await ask(number, { waiting: true });
      expect(served).toMatchObject({ answer: { body: `${number}` } });
    }
  });

  it('takes the first of two answers that came one after the other', async () => {
    const { path, ledger, send, ask } = await open();
    const { lease, requests } = await send([1, 2]);
    const [one, two] = requests as [number, number];
    await ledger.collected(lease, [answerTo(two, { ...good, body: 'first' })]);
    await ledger.collected(
      lease,
      [one, two].map((request) => answerTo(request)),
    );
    await ledger.collected(lease, [answerTo(two, bad), answerTo(one, bad)]);
    expect(await ask(1)).toMatchObject({ answer: good });
    await ledger.ended(lease);
    expect(await ask(2)).toMatchObject({ answer: { body: 'first' } });
    expect(await ask(1)).toMatchObject({ answer: good });
    expect(await look(path)).toMatchObject({ entered: 2, blocks: 2, waiting: 0 });
  });

  it('gives each row the moment at which its answer came, not that of the entering', async () => {
    const { path, ledger, send, clock } = await open();
    const { lease, requests } = await send([1, 2]);
    for (const [index, request] of requests.entries()) {
      clock.time = 10_000 * (index + 1);
      await ledger.collected(lease, [answerTo(request)]);
    }
    clock.time = 50_000;
    await ledger.ended(lease);
    const moments = await query(path, 'SELECT at FROM request ORDER BY id');
    expect(moments).toEqual([{ at: 10_000 }, { at: 20_000 }]);
  });

  it('erases bodies that were spooled after the answer had come', async () => {
    const { path, ledger, ask, join: joinAs, send } = await open();
    const { lease, requests } = await send([1, 2]);
    const other = await joinAs();
    await ledger.collected(
      lease,
      requests.map((request) => answerTo(request)),
    );
    await ledger.spool(requests.map((request) => ({ request, body: 'a prompt' })));
    expect(await look(path)).toMatchObject({ entered: 0, bodies: 2 });
    await ask(1, { owner: other });
    expect(await look(path)).toMatchObject({ entered: 1, bodies: 1 });
    await ledger.ended(lease);
    expect(await look(path)).toMatchObject({ entered: 2, bodies: 0 });
  });

  it('leaves the bodies of requests that are tried once more', async () => {
    const { path, ledger, send } = await open();
    const { lease, requests } = await send([1]);
    await ledger.spool(requests.map((request) => ({ request, body: 'a prompt' })));
    await ledger.collected(lease, [{ request: requests[0]!, is: 'retry' }]);
    await ledger.collected(lease, [answerTo(requests[0]!)]);
    await ledger.ended(lease);
    expect(await look(path)).toEqual({ entered: 0, blocks: 0, waiting: 0, bodies: 1 });
  });

  it('comes to an end when a block is gone', async () => {
    const { path, ledger, send, ask } = await open();
    const { lease, requests } = await send([1, 2]);
    for (const request of requests) await ledger.collected(lease, [answerTo(request)]);
    await query(path, 'DELETE FROM answer WHERE id = (SELECT max(id) FROM answer)');
    await ledger.ended(lease);
    expect(await look(path)).toMatchObject({ entered: 1, waiting: 0 });
    expect(await ask(1)).toMatchObject({ is: 'answered' });
  });
});

describe('answers to a batch that is over', () => {
  it('leave nothing behind', async () => {
    const { path, ledger, send } = await open();
    const { lease, requests } = await send([1]);
    await ledger.ended(lease);
    await ledger.collected(lease, [answerTo(requests[0]!)], 'cursor');
    expect(await look(path)).toEqual({ entered: 0, blocks: 0, waiting: 0, bodies: 0 });
  });
});
