import { describe, expect, it } from 'vitest';
import {
  fingerprintOf,
  good,
  type LedgerSubject,
  newToken,
  openBench,
} from './subject.test-helper.ts';

export function batchConformance(subject: LedgerSubject): void {
  describe('plan', () => {
    it('makes one batch of requests in any order, and claim gives that order back', async () => {
      const { ledger, me, queue, ask, join } = await openBench(subject);
      const ids: number[] = [];
      for (const number of [1, 2, 3, 4, 5]) ids.push((await ask(number)).request);
      const order = [ids[3]!, ids[4]!, ids[0]!, ids[2]!, ids[1]!];
      const lease = await ledger.plan(me, { token: newToken(), queue, tags: {} }, order);
      const other = await join();
      await ledger.leave(me);
      const claimed = await ledger.claim(other, lease.batch);
      expect(claimed?.members.map(({ request }) => request)).toEqual(order);
    });

    it('takes all requests or none', async () => {
      const { ledger, me, queue, ask, join } = await openBench(subject);
      const mine = await ask(1);
      const other = await join();
      const theirs = await ask(2, { owner: other });
      const plan = ledger.plan(me, { token: newToken(), queue, tags: {} }, [
        mine.request,
        theirs.request,
      ]);
      await expect(plan).rejects.toMatchObject({ code: 'INVARIANT' });
      expect(await ask(1)).toEqual({ request: mine.request, occurrence: 0, is: 'wait' });
      expect(await ledger.list()).toEqual([]);
    });

    it('refuses a request that is in a batch already, or named twice', async () => {
      const { ledger, me, queue, ask, send } = await openBench(subject);
      const { requests } = await send([1]);
      const { request } = await ask(2);
      for (const members of [[requests[0]!], [request, request]]) {
        const plan = ledger.plan(me, { token: newToken(), queue, tags: {} }, members);
        await expect(plan).rejects.toMatchObject({ code: 'INVARIANT' });
      }
    });

    it('plans tens of thousands at once', async () => {
      const { ledger, me, queue, join } = await openBench(subject);
      const asks = Array.from({ length: 25_000 }, (_, index) => ({
        fingerprint: fingerprintOf(index),
        occurrence: 0,
        queue,
        cache: true,
      }));
      const requests = (await ledger.admit(me, asks)).map(({ request }) => request);
      const lease = await ledger.plan(me, { token: newToken(), queue, tags: {} }, requests);
      const other = await join();
      await ledger.leave(me);
      const claimed = await ledger.claim(other, lease.batch);
      expect(claimed?.members.map(({ request }) => request)).toEqual(requests);
      await ledger.released(claimed!.lease);
      const again = { token: newToken(), queue, tags: {} };
      const turned = [...requests].reverse();
      const next = await ledger.plan(other, again, turned);
      expect((await ledger.list({ open: true }))[0]).toMatchObject({ count: 25_000 });
      const third = await join();
      await ledger.leave(other);
      const members = (await ledger.claim(third, next.batch))?.members;
      expect(members?.map(({ request }) => request)).toEqual(turned);
    });
  });

  describe('the life of a batch', () => {
    it('is shown by list and show', async () => {
      const bench = await openBench(subject);
      const { ledger, me, queue, ask } = bench;
      const { request } = await ask(1);
      const batch = { token: newToken(), queue, name: 'nightly', tags: { team: 'a' } };
      const lease = await ledger.plan(me, batch, [request]);
      const common = {
        token: batch.token,
        provider: 'openai',
        endpoint: '/v1/chat/completions',
        model: 'gpt-4o-mini',
        base: 'https://api.openai.com/v1',
        name: 'nightly',
        tags: { team: 'a' },
        run: expect.any(String),
        count: 1,
        createdAt: 1_000,
      };
      expect(await ledger.list()).toEqual([{ ...common, state: 'planned', answered: 0 }]);

      await ledger.staged(lease, { fileId: 'file-1' });
      expect(await ledger.show(batch.token)).toMatchObject({ state: 'staged' });
      expect(await ledger.creating(lease, { fileId: 'file-2' }, { alone: true })).toBe(true);
      bench.clock.time = 2_000;
      await ledger.accepted(lease, { id: 'batch_1', raw: 'validating' });
      const counts = { total: 1, completed: 1, failed: 0 };
      await ledger.polled([{ lease, remote: { id: 'batch_1', raw: 'finalizing', counts } }]);
      await ledger.collected(lease, [{ request, is: 'answer', answer: good }], 'cursor-1');
      await ledger.polled([{ lease, remote: { id: 'batch_1', raw: 'completed' } }]);
      bench.clock.time = 3_000;
      expect(await ledger.list({ open: true })).toHaveLength(1);
      await ledger.ended(lease);

      expect(await ledger.show('batch_1')).toEqual({
        ...common,
        state: 'ended',
        remoteId: 'batch_1',
        raw: 'completed',
        counts,
        answered: 1,
        acceptedAt: 2_000,
        endedAt: 3_000,
      });
      expect(await ledger.list({ open: true })).toEqual([]);
      expect(await ledger.list({ open: false })).toHaveLength(1);
      expect(await ledger.show('nobody')).toBeUndefined();
    });

    it('lists the newest first, and only as many as asked for', async () => {
      const { ledger, send } = await openBench(subject);
      const [, second, third] = [await send([1]), await send([2]), await send([3])];
      const ids = (await ledger.list({ limit: 2 })).map(({ remoteId }) => remoteId);
      expect(ids).toEqual([`remote-${third.lease.batch}`, `remote-${second.lease.batch}`]);
    });

    it('refuses illegal moves and names both states', async () => {
      const { ledger, me, queue, ask, send } = await openBench(subject);
      const { request } = await ask(1);
      const lease = await ledger.plan(me, { token: 'illegal', queue, tags: {} }, [request]);
      const move = ledger.accepted(lease, { id: 'batch_1', raw: 'validating' });
      await expect(move).rejects.toMatchObject({
        code: 'INVARIANT',
        message: expect.stringMatching(/illegal.*"planned".*"accepted"/),
      });
      const sent = await send([2]);
      await expect(ledger.released(sent.lease)).rejects.toMatchObject({ code: 'INVARIANT' });
      await ledger.ended(sent.lease);
      await expect(ledger.ended(sent.lease)).rejects.toMatchObject({ code: 'INVARIANT' });
    });

    it('gives members back with no attempt used when the provider refuses', async () => {
      const { ledger, ask, join, me, send } = await openBench(subject);
      const { lease, requests } = await send([1, 2]);
      await ledger.collected(lease, [{ request: requests[0]!, is: 'answer', answer: good }]);
      await ledger.refused(lease, 'token limit');
      expect(await ask(1)).toMatchObject({ is: 'answered' });
      expect(await ask(2)).toEqual({ request: requests[1], occurrence: 0, is: 'wait' });
      expect((await ledger.list())[0]).toMatchObject({ state: 'refused', failure: 'token limit' });
      const again = await send([]);
      expect(again.requests).toEqual([]);
      const other = await join();
      await ledger.leave(me);
      expect(await ask(2, { owner: other })).toMatchObject({ is: 'mine' });
    });

    it('lets only one batch of an account at a base be created at a time, when asked to', async () => {
      const { ledger, me, queue, ask } = await openBench(subject);
      const key = { provider: 'openai', hash: new Uint8Array(32).fill(1) };
      const openai = {
        account: await ledger.account({ ...key, hash: new Uint8Array(32) }),
        provider: 'openai',
        base: 'https://api.openai.com/v1',
        endpoint: '/v1/chat/completions',
        model: 'gpt-4o-mini',
        batchHeaders: {},
      };
      const elsewhere = await ledger.queue({ ...openai, account: await ledger.account(key) });
      const otherBase = await ledger.queue({ ...openai, base: 'http://127.0.0.1:8000/v1' });
      const plan = async (number: number, where: number) =>
        ledger.plan(me, { token: newToken(), queue: where, tags: {} }, [
          (await ask(number)).request,
        ]);
      const [one, two, three, four] = [
        await plan(1, queue),
        await plan(2, queue),
        await plan(3, elsewhere),
        await plan(4, otherBase),
      ];
      expect(await ledger.creating(one, {}, { alone: true })).toBe(true);
      expect(await ledger.creating(two, {}, { alone: true })).toBe(false);
      expect(await ledger.creating(three, {}, { alone: true })).toBe(true);
      expect(await ledger.creating(four, {}, { alone: true })).toBe(true);
      expect(await ledger.creating(one, {}, { alone: true })).toBe(true);
      await ledger.accepted(one, { id: 'batch_1', raw: 'validating' });
      expect(await ledger.creating(two, {}, { alone: true })).toBe(true);
    });
  });
}
