import { describe, expect, it } from 'vitest';
import { bad, good, type LedgerSubject, openBench } from './subject.test-helper.ts';

export function killedConformance(subject: LedgerSubject): void {
  const { kill } = subject;
  if (typeof kill !== 'function') {
    it.skip(`the work of a killed owner (skipped: ${kill.skip})`, () => {});
    return;
  }

  describe('a killed owner', () => {
    it('loses its admitted requests to the next owner that asks', async () => {
      const { ledger, me, ask, join } = await openBench(subject);
      const { request } = await ask(1);
      const other = await join();
      await kill(ledger, me);
      expect(await ask(1, { owner: other })).toMatchObject({ request, is: 'mine' });
    });

    it('loses its batches to the owner that claims them', async () => {
      const { ledger, me, join, send } = await openBench(subject);
      const { lease } = await send([1, 2]);
      const other = await join();
      expect(await ledger.claim(other, lease.batch)).toBeUndefined();
      expect(await ledger.claimable()).toEqual([]);
      await kill(ledger, me);
      expect(await ledger.claimable()).toEqual([lease.batch]);
      expect(await ledger.claim(other, lease.batch)).toMatchObject({ state: 'accepted' });
    });

    it.each([true, false])('is continued with cache: %s, once', async (cache) => {
      const { ledger, me, ask, join, settle } = await openBench(subject);
      await settle(1);
      const [second, third] = [await join(), await join()];
      await kill(ledger, me);
      const served = { is: 'answered', answer: good };
      expect(await ask(1, { owner: second, cache })).toMatchObject(served);
      await ledger.leave(second);
      expect(await ask(1, { owner: third, cache: false })).toMatchObject({ is: 'mine' });
    });

    it('leaves what it has collected: none of it is sent again', async () => {
      const { ledger, me, ask, join, send } = await openBench(subject);
      const { lease, requests } = await send([1, 2, 3, 4]);
      const [one, two, three] = requests as [number, number, number];
      await ledger.collected(lease, [
        { request: three, is: 'answer', answer: good },
        { request: one, is: 'answer', answer: good },
        { request: two, is: 'answer', answer: bad },
      ]);
      const other = await join();
      await kill(ledger, me);
      expect(await ask(1, { owner: other })).toMatchObject({ is: 'answered', answer: good });
      const claimed = await ledger.claim(other, lease.batch);
      expect(claimed?.members.map(({ settled }) => settled)).toEqual([true, true, true, false]);
      expect(await ask(3, { owner: other })).toMatchObject({ is: 'answered', answer: good });
      expect(await ask(2, { owner: other, waiting: true })).toMatchObject({ answer: bad });
      expect((await ledger.list())[0]).toMatchObject({ answered: 3 });
      await ledger.ended(claimed!.lease);
      expect(await ask(4, { owner: other })).toMatchObject({ is: 'wait' });
      expect((await ledger.list())[0]).toMatchObject({ answered: 3 });
    });

    it('leaves no cursor beyond the results that it has stored', async () => {
      const { ledger, me, join, send } = await openBench(subject);
      const { lease, requests } = await send([1, 2]);
      // So large that it has a transaction of its own, and one that no transaction can store.
      const answers = [
        { ...good, body: 'x'.repeat(4_000_001) },
        { ...good, headers: { number: 1n as never } },
      ];
      const settlements = answers.map(
        (answer, index) => ({ request: requests[index]!, is: 'answer', answer }) as const,
      );
      await expect(ledger.collected(lease, settlements, 'beyond')).rejects.toThrow();
      const other = await join();
      await kill(ledger, me);
      const claimed = await ledger.claim(other, lease.batch);
      expect(claimed?.members.map(({ settled }) => settled)).toEqual([true, false]);
      expect(claimed).not.toHaveProperty('cursor');
    });

    it('keeps others from creating next to its unresolved create', async () => {
      const { ledger, me, join, ask, queue } = await openBench(subject);
      const one = await ask(1);
      const lease = await ledger.plan(me, { token: 'dead', queue, tags: {} }, [one.request]);
      await ledger.creating(lease, {}, { alone: true });
      const other = await join();
      await kill(ledger, me);
      const two = await ask(2, { owner: other });
      const next = await ledger.plan(other, { token: 'next', queue, tags: {} }, [two.request]);
      expect(await ledger.creating(next, {}, { alone: true })).toBe(false);
      const claimed = await ledger.claim(other, lease.batch);
      await ledger.refused(claimed!.lease, 'never arrived');
      expect(await ledger.creating(next, {}, { alone: true })).toBe(true);
    });
  });
}
