import { describe, expect, it } from 'vitest';
import { bad, good, type LedgerSubject, newToken, openBench } from './subject.test-helper.ts';

export function outcomeConformance(subject: LedgerSubject): void {
  describe('collected', () => {
    it('sorts outcomes: answered, failed, once more, forgotten', async () => {
      const { ledger, me, queue, ask, join, send } = await openBench(subject);
      const { lease, requests } = await send([1, 2, 3, 4]);
      const [one, two, three, four] = requests as [number, number, number, number];
      await ledger.collected(lease, [
        { request: one, is: 'answer', answer: good },
        { request: two, is: 'answer', answer: bad },
        { request: three, is: 'retry' },
        { request: four, is: 'release' },
      ]);
      await ledger.ended(lease);
      expect(await ask(1)).toMatchObject({ is: 'answered', answer: good });
      expect(await ask(2, { waiting: true })).toMatchObject({ is: 'answered', answer: bad });
      expect(await ask(3)).toEqual({ request: three, occurrence: 0, is: 'wait' });
      const renewed = await ask(4);
      expect(renewed.is).toBe('mine');
      expect(renewed.request).not.toBe(four);

      const next = await ledger.plan(me, { token: newToken(), queue, tags: {} }, [
        three,
        renewed.request,
      ]);
      const other = await join();
      await ledger.leave(me);
      const claimed = await ledger.claim(other, next.batch);
      expect(claimed?.members.map(({ attempt }) => attempt)).toEqual([1, 0]);
    });

    it('keeps the first answer, and ignores what is no member', async () => {
      const { ledger, ask, send } = await openBench(subject);
      const { lease, requests } = await send([1]);
      const foreign = await send([2]);
      const request = requests[0]!;
      await ledger.collected(lease, [
        { request, is: 'answer', answer: good },
        { request, is: 'answer', answer: bad },
        { request, is: 'retry' },
        { request: foreign.requests[0]!, is: 'answer', answer: bad },
        { request: 987_654, is: 'answer', answer: bad },
      ]);
      expect(await ask(1)).toMatchObject({ answer: good });
      expect(await ask(2)).toMatchObject({ is: 'wait', batch: foreign.lease.batch });
      expect((await ledger.list()).map(({ answered }) => answered)).toEqual([0, 1]);
    });
  });

  describe('collected again', () => {
    it('keeps the first outcome of each request', async () => {
      const { ledger, ask, send } = await openBench(subject);
      const { lease, requests } = await send([1, 2, 3]);
      const [one, two, three] = requests as [number, number, number];
      await ledger.collected(lease, [
        { request: one, is: 'answer', answer: good },
        { request: two, is: 'answer', answer: bad },
        { request: three, is: 'retry' },
      ]);
      await ledger.collected(lease, [
        { request: one, is: 'retry' },
        { request: two, is: 'release' },
        { request: three, is: 'answer', answer: bad },
      ]);
      await ledger.collected(lease, [{ request: one, is: 'answer', answer: bad }]);
      expect((await ledger.list())[0]).toMatchObject({ answered: 2 });
      await ledger.ended(lease);
      expect((await ledger.list())[0]).toMatchObject({ answered: 2 });
      expect(await ask(1)).toMatchObject({ request: one, is: 'answered', answer: good });
      expect(await ask(2, { waiting: true })).toMatchObject({ request: two, answer: bad });
      expect(await ask(3)).toEqual({ request: three, occurrence: 0, is: 'wait' });
    });

    it('takes tens of thousands, in any order', async () => {
      const { ledger, send, ask } = await openBench(subject);
      const numbers = Array.from({ length: 12_000 }, (_, index) => index);
      const { lease, requests } = await send(numbers);
      const settlements = requests.map((request, index) => {
        const answer = { ...(index % 7 === 0 ? bad : good), body: `${index}` };
        return { request, is: 'answer', answer } as const;
      });
      const shuffled = settlements.map((_, index) => settlements[(index * 7_919) % 12_000]!);
      await ledger.collected(lease, shuffled.slice(0, 9_000), 'cursor');
      expect((await ledger.list())[0]).toMatchObject({ answered: 9_000 });
      await ledger.collected(lease, shuffled.slice(8_000));
      expect((await ledger.list())[0]).toMatchObject({ answered: 12_000 });
      await ledger.ended(lease);
      for (const number of [0, 1, 6_000, 7_000, 11_999]) {
        const served = await ask(number, { waiting: true });
        expect(served).toMatchObject({ is: 'answered', answer: { body: `${number}` } });
      }
    });
  });

  describe('settled', () => {
    it('leaves members of batches and requests of others alone', async () => {
      const { ledger, me, ask, join, send } = await openBench(subject);
      const { requests } = await send([1]);
      const other = await join();
      const theirs = await ask(2, { owner: other });
      await ledger.settled(me, [
        { request: requests[0]!, is: 'answer', answer: good },
        { request: theirs.request, is: 'release' },
      ]);
      expect(await ask(1)).toMatchObject({ is: 'wait' });
      expect(await ask(2)).toMatchObject({ request: theirs.request, is: 'wait' });
    });
  });
}
