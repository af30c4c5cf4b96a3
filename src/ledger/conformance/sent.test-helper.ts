import { describe, expect, it } from 'vitest';
import { good, type LedgerSubject, openBench } from './subject.test-helper.ts';

/** Requests that go out as ordinary calls: the mark that outlives their owner. */
export function sentConformance(subject: LedgerSubject): void {
  describe('markSent', () => {
    it('tells the next owner of a request that its owner died while it was on the wire', async () => {
      const { ledger, me, ask, join } = await openBench(subject);
      const [sent, waiting] = [await ask(1), await ask(2)];
      await ledger.markSent(me, [sent.request], true);
      const other = await join();
      expect(await ask(1, { owner: other })).toMatchObject({ is: 'wait' });
      await ledger.leave(me, { finished: false });
      const taken = await ask(1, { owner: other });
      expect(taken).toEqual({ request: sent.request, occurrence: 0, is: 'mine', sent: true });
      const unsent = { request: waiting.request, occurrence: 0, is: 'mine' };
      expect(await ask(2, { owner: other })).toEqual(unsent);
    });

    it('is over when the request was not accepted, is tried again, or has its answer', async () => {
      const { ledger, me, ask, join } = await openBench(subject);
      const asked = [await ask(1), await ask(2), await ask(3)].map(({ request }) => request);
      const [refused, retried, answered] = asked as [number, number, number];
      await ledger.markSent(me, asked, true);
      await ledger.markSent(me, [refused], false);
      await ledger.settled(me, [
        { request: retried, is: 'retry' },
        { request: answered, is: 'answer', answer: good },
      ]);
      const other = await join();
      await ledger.leave(me, { finished: false });
      const mine = { occurrence: 0, is: 'mine' };
      expect(await ask(1, { owner: other })).toEqual({ request: refused, ...mine });
      expect(await ask(2, { owner: other })).toEqual({ request: retried, ...mine, attempt: 1 });
      expect(await ask(3, { owner: other })).toMatchObject({ is: 'answered', answer: good });
    });

    it('is told once: who takes the request has not sent it', async () => {
      const { ledger, me, ask, join } = await openBench(subject);
      const { request } = await ask(1);
      await ledger.markSent(me, [request], true);
      await ledger.leave(me, { finished: false });
      const [second, third] = [await join(), await join()];
      expect(await ask(1, { owner: second })).toMatchObject({ sent: true });
      await ledger.leave(second, { finished: false });
      expect(await ask(1, { owner: third })).toEqual({ request, occurrence: 0, is: 'mine' });
    });

    it('leaves requests of others alone, and an owner that is gone is told so', async () => {
      const { ledger, me, ask, join } = await openBench(subject);
      const { request } = await ask(1);
      const other = await join();
      await ledger.markSent(other, [request], true);
      await ledger.leave(me, { finished: false });
      expect(await ask(1, { owner: other })).toEqual({ request, occurrence: 0, is: 'mine' });
      await expect(ledger.markSent(me, [request], true)).rejects.toMatchObject({
        code: 'OWNER_LOST',
      });
    });
  });
}
