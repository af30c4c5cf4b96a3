import { describe, expect, it } from 'vitest';
import { bad, good, type LedgerSubject, openBench } from './subject.test-helper.ts';

export function admitConformance(subject: LedgerSubject): void {
  describe('admit', () => {
    it('gives an unknown request to the owner that asks', async () => {
      const { ask } = await openBench(subject);
      expect(await ask(1)).toEqual({ request: expect.any(Number), occurrence: 0, is: 'mine' });
    });

    it('keeps the order of the asks, also for more than one transaction of them', async () => {
      const { ledger, me, queue } = await openBench(subject);
      const asks = Array.from({ length: 1_201 }, (_, occurrence) => ({
        fingerprint: new Uint8Array(32),
        occurrence,
        queue,
        cache: true,
      }));
      const admissions = await ledger.admit(me, asks);
      expect(admissions.map(({ occurrence }) => occurrence)).toEqual(asks.map((_, i) => i));
      const first = admissions[0]!.request;
      expect(admissions.map(({ request }) => request)).toEqual(asks.map((_, i) => first + i));
    });

    it('answers no asks with no admissions', async () => {
      const { ledger, me } = await openBench(subject);
      expect(await ledger.admit(me, [])).toEqual([]);
    });

    it('lets the second of two equal asks wait, even within one call', async () => {
      const { ledger, me, queue } = await openBench(subject);
      const ask = { fingerprint: new Uint8Array(32), occurrence: 0, queue, cache: true };
      const [first, second] = await ledger.admit(me, [ask, ask]);
      expect(first?.is).toBe('mine');
      expect(second).toEqual({ request: first?.request, occurrence: 0, is: 'wait' });
    });

    it('treats occurrences of one fingerprint as different requests', async () => {
      const { ask } = await openBench(subject);
      const first = await ask(1, { occurrence: 0 });
      const second = await ask(1, { occurrence: 1 });
      expect([first.is, second.is]).toEqual(['mine', 'mine']);
      expect(first.request).not.toBe(second.request);
    });

    it('serves a stored 2xx answer with headers and text intact', async () => {
      const { ask, settle } = await openBench(subject);
      const request = await settle(1, { ...good, body: 'zero \0 character' });
      expect(await ask(1)).toEqual({
        request,
        occurrence: 0,
        is: 'answered',
        answer: { ...good, body: 'zero \0 character' },
      });
    });

    it('never stores the parsed body', async () => {
      const { ask, settle } = await openBench(subject);
      await settle(1, { ...good, json: { parsed: true } });
      expect(await ask(1)).toMatchObject({ is: 'answered', answer: good });
      expect(await ask(1)).not.toHaveProperty('answer.json');
    });

    it('lets other owners wait while the owner of an admitted request is here', async () => {
      const { ask, join } = await openBench(subject);
      const { request } = await ask(1);
      const other = await join();
      expect(await ask(1, { owner: other })).toEqual({ request, occurrence: 0, is: 'wait' });
    });

    it('hands an admitted request over when its owner has left', async () => {
      const { ledger, me, ask, join } = await openBench(subject);
      const { request } = await ask(1);
      const other = await join();
      await ledger.leave(me);
      expect(await ask(1, { owner: other })).toMatchObject({ request, is: 'mine' });
      expect(await ask(1, { owner: other })).toMatchObject({ request, is: 'wait' });
    });

    it('names the batch to wait for once the request is planned, also when its owner is gone', async () => {
      const { ledger, me, ask, join, send } = await openBench(subject);
      const { lease, requests } = await send([1]);
      const waits = { request: requests[0], occurrence: 0, is: 'wait', batch: lease.batch };
      expect(await ask(1)).toEqual(waits);
      const other = await join();
      await ledger.leave(me);
      expect(await ask(1, { owner: other })).toEqual(waits);
    });

    it('sends a failed request again, unless the asker was waiting for it', async () => {
      const { ask, settle, join } = await openBench(subject);
      const request = await settle(1, bad);
      const other = await join();
      expect(await ask(1, { owner: other, waiting: true })).toEqual({
        request,
        occurrence: 0,
        is: 'answered',
        answer: bad,
      });
      expect(await ask(1, { owner: other })).toEqual({ request, occurrence: 0, is: 'mine' });
      expect(await ask(1)).toMatchObject({ is: 'wait' });
    });

    it('says from which batch an answer came', async () => {
      const { ledger, ask, send } = await openBench(subject);
      const { lease, requests } = await send([1]);
      const request = requests[0]!;
      await ledger.collected(lease, [{ request, is: 'answer', answer: good }]);
      const { token } = (await ledger.list())[0]!;
      expect(await ask(1)).toMatchObject({ is: 'answered', batchToken: token });
    });

    it('refuses an owner that has left or never joined', async () => {
      const { ledger, me, ask } = await openBench(subject);
      await ledger.leave(me);
      await expect(ask(1)).rejects.toMatchObject({ code: 'OWNER_LOST' });
      await expect(ask(1, { owner: 999 })).rejects.toMatchObject({ code: 'OWNER_LOST' });
    });
  });

  describe('admit with cache: false', () => {
    it('does not use answers of a run that is finished', async () => {
      const { ledger, me, ask, settle, join } = await openBench(subject);
      const request = await settle(1);
      const other = await join();
      await ledger.leave(me);
      const admission = await ask(1, { owner: other, cache: false });
      expect(admission.is).toBe('mine');
      expect(admission.request).not.toBe(request);
      expect(await ask(1, { owner: other })).toMatchObject({ request, is: 'answered' });
    });

    it('prefers the newest answer afterwards', async () => {
      const { ledger, me, ask, settle, join } = await openBench(subject);
      await settle(1);
      const other = await join();
      await ledger.leave(me);
      const { request } = await ask(1, { owner: other, cache: false });
      const newer = { ...good, body: 'newer' };
      await ledger.settled(other, [{ request, is: 'answer', answer: newer }]);
      const served = { is: 'answered', answer: newer };
      expect(await ask(1, { owner: other })).toMatchObject(served);
      expect(await ask(1, { owner: other, cache: false })).toMatchObject(served);
    });

    it('uses answers of the same run, also when that process is done', async () => {
      const { ledger, ask, settle, join } = await openBench(subject);
      const [first, second] = [await join('shared'), await join('shared')];
      await settle(1, good, first);
      await ledger.leave(first);
      expect(await ask(1, { owner: second, cache: false })).toMatchObject({ is: 'answered' });
    });

    it('takes over answers of a run under way; they are finished with the run of the asker', async () => {
      const { ledger, ask, settle, join } = await openBench(subject);
      await settle(1);
      const [second, third] = [await join(), await join()];
      expect(await ask(1, { owner: second, cache: false })).toMatchObject({ is: 'answered' });
      await ledger.leave(second);
      expect(await ask(1, { owner: third, cache: false })).toMatchObject({ is: 'mine' });
    });

    it('starts anew after a final error of a finished run', async () => {
      const { ledger, me, ask, settle, join } = await openBench(subject);
      const request = await settle(1, bad);
      const other = await join();
      await ledger.leave(me);
      const admission = await ask(1, { owner: other, cache: false });
      expect(admission.is).toBe('mine');
      expect(admission.request).not.toBe(request);
    });

    it('gives a waiting asker the answer, although its owner left in the meantime', async () => {
      const { ledger, me, ask, join } = await openBench(subject);
      const { request } = await ask(1);
      const other = await join();
      expect(await ask(1, { owner: other, cache: false })).toMatchObject({ is: 'wait' });
      await ledger.settled(me, [{ request, is: 'answer', answer: good }]);
      await ledger.leave(me);
      const again = await ask(1, { owner: other, cache: false, waiting: true });
      expect(again).toMatchObject({ request, is: 'answered' });
    });
  });

  describe('occurrence "next"', () => {
    it('counts for all owners of a run, and for each run from the start', async () => {
      const { ask, join } = await openBench(subject);
      const [one, two, stranger] = [await join('many'), await join('many'), await join()];
      const next = async (owner: number) =>
        (await ask(1, { owner, occurrence: 'next' })).occurrence;
      expect([await next(one), await next(two), await next(one)]).toEqual([0, 1, 2]);
      expect(await next(stranger)).toBe(0);
    });

    it('is not moved by asks that name their occurrence', async () => {
      const { ask } = await openBench(subject);
      await ask(1, { occurrence: 0 });
      await ask(1, { occurrence: 5 });
      expect(await ask(1, { occurrence: 'next' })).toMatchObject({ occurrence: 0, is: 'wait' });
    });
  });
}
