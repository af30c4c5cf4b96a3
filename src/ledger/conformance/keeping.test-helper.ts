import { describe, expect, it } from 'vitest';
import type { Wait } from '../ledger.ts';
import { bad, good, type LedgerSubject, newToken, openBench } from './subject.test-helper.ts';

export function keepingConformance(subject: LedgerSubject): void {
  describe('accounts and queues', () => {
    it('are known again by what they are', async () => {
      const { ledger, queue: first } = await openBench(subject);
      const key = { provider: 'openai', hash: new Uint8Array(32), hint: 'env:OPENAI_API_KEY' };
      const account = await ledger.account(key);
      expect(await ledger.account({ ...key, hint: 'env:OTHER' })).toBe(account);
      expect(await ledger.account({ ...key, provider: 'groq' })).not.toBe(account);

      const queue = {
        account,
        provider: 'openai',
        base: 'https://api.openai.com/v1',
        endpoint: '/v1/chat/completions',
        model: 'gpt-4o-mini',
        batchHeaders: { a: '1', b: '2' },
      };
      const id = await ledger.queue(queue);
      expect(await ledger.queue({ ...queue, batchHeaders: { b: '2', a: '1' } })).toBe(id);
      expect(await ledger.queue({ ...queue, partition: 'p' })).not.toBe(id);
      expect(await ledger.queue({ ...queue, batchHeaders: {} })).toBe(first);
      expect(ledger.salt).toHaveLength(32);
    });
  });

  describe('learnt limits', () => {
    it('are kept by account and model, the newest one only', async () => {
      const { ledger, clock } = await openBench(subject);
      const [one, two] = [
        await ledger.account({ provider: 'openai', hash: new Uint8Array(32) }),
        await ledger.account({ provider: 'openai', hash: new Uint8Array(32).fill(1) }),
      ];
      expect(await ledger.limit(one, 'gpt-5')).toBeUndefined();
      await ledger.learn(one, 'gpt-5', { tokens: 90_000, named: true });
      await ledger.learn(one, 'gpt-5-mini', { tokens: 3_000_000_000, named: true });
      await ledger.learn(two, 'gpt-5', { tokens: 7, named: true });
      clock.time = 2_000;
      await ledger.learn(one, 'gpt-5', { tokens: 50_000, named: false });
      expect(await ledger.limit(one, 'gpt-5')).toEqual({
        tokens: 50_000,
        named: false,
        age: 0,
      });
      expect(await ledger.limit(one, 'gpt-5-mini')).toEqual({
        tokens: 3_000_000_000,
        named: true,
        age: 1_000,
      });
      expect(await ledger.limit(two, 'gpt-5')).toMatchObject({ tokens: 7 });
      expect(await ledger.limit(two, 'gpt-5-mini')).toBeUndefined();
    });

    it('age in both directions from the moment at which they were learnt', async () => {
      const { ledger, clock } = await openBench(subject);
      const account = await ledger.account({ provider: 'openai', hash: new Uint8Array(32) });
      clock.time = 50_000;
      await ledger.learn(account, 'gpt-5', { tokens: 90_000, named: true });
      clock.time = 53_000;
      expect(await ledger.limit(account, 'gpt-5')).toMatchObject({ age: 3_000 });
      clock.time = 30_000;
      expect(await ledger.limit(account, 'gpt-5')).toMatchObject({ age: 20_000 });
    });
  });

  describe('withdraw', () => {
    it('forgets what this owner has admitted, and nothing else', async () => {
      const { ledger, me, ask, join, send } = await openBench(subject);
      const other = await join();
      const mine = await ask(1);
      const theirs = await ask(2, { owner: other });
      const { requests } = await send([3]);
      await ledger.withdraw(me, [mine.request, theirs.request, requests[0]!, 987_654]);
      const again = await ask(1, { owner: other });
      expect(again.is).toBe('mine');
      expect(again.request).not.toBe(mine.request);
      expect(await ask(2)).toMatchObject({ request: theirs.request, is: 'wait' });
      expect(await ask(3)).toMatchObject({ request: requests[0], is: 'wait' });
    });
  });

  describe('spooled bodies', () => {
    it('are kept until the request is final', async () => {
      const { ledger, send } = await openBench(subject);
      const { lease, requests } = await send([1, 2, 3]);
      const [one, two, three] = requests as [number, number, number];
      await ledger.spool([
        { request: one, body: '{"é":"\0"}' },
        { request: two, body: 'two' },
        { request: 987_654, body: 'nobody' },
      ]);
      const stored = await ledger.bodies([one, two, three, 987_654]);
      expect([...stored]).toEqual([
        [one, '{"é":"\0"}'],
        [two, 'two'],
      ]);
      await ledger.collected(lease, [
        { request: one, is: 'answer', answer: good },
        { request: two, is: 'retry' },
      ]);
      expect([...(await ledger.bodies([one, two]))]).toEqual([[two, 'two']]);
    });

    it('stay with keep: "all"', async () => {
      const { ledger, me, ask } = await openBench(subject, { keep: 'all' });
      const { request } = await ask(1);
      await ledger.spool([{ request, body: 'kept' }]);
      await ledger.settled(me, [{ request, is: 'answer', answer: good }]);
      expect((await ledger.bodies([request])).get(request)).toBe('kept');
    });
  });

  describe('keep: "none"', () => {
    it('erases answers when their owner leaves; the request is then sent again', async () => {
      const { ledger, me, ask, join, settle } = await openBench(subject, { keep: 'none' });
      const request = await settle(1);
      const other = await join();
      await settle(2, good, other);
      expect(await ask(1)).toMatchObject({ is: 'answered' });
      await ledger.leave(me);
      expect(await ask(1, { owner: other })).toMatchObject({ request, is: 'mine' });
      expect(await ask(2, { owner: other })).toMatchObject({ is: 'answered' });
    });
  });

  describe('prune', () => {
    it('drops what is final, old and belongs to no owner that is here', async () => {
      const bench = await openBench(subject);
      const { ledger, me, join, settle, send, ask } = bench;
      const gone = await join();
      await settle(1, good, gone);
      await settle(2, bad, gone);
      await settle(3, good, me);
      const open = await send([4], gone);
      const done = await send([5], gone);
      await ledger.collected(done.lease, [
        { request: done.requests[0]!, is: 'answer', answer: good },
      ]);
      await ledger.ended(done.lease);
      bench.clock.time = 5_000;
      await settle(6, good, gone);
      await ledger.leave(gone);

      const report = await ledger.prune({ olderThan: 1_000 });
      expect(report).toMatchObject({ requests: 3, batches: 1 });
      expect(report.bytes).toBeGreaterThan(100);
      expect((await ledger.list()).map(({ remoteId }) => remoteId)).toEqual([
        `remote-${open.lease.batch}`,
      ]);
      expect(await ask(1)).toMatchObject({ is: 'mine' });
      expect(await ask(3)).toMatchObject({ is: 'answered' });
      expect(await ask(4)).toMatchObject({ is: 'wait' });
      expect(await ask(6)).toMatchObject({ is: 'answered' });
    });

    it('makes room by dropping the oldest, down to nothing if need be', async () => {
      const { ledger, me, settle, join, ask } = await openBench(subject);
      for (const number of [1, 2, 3]) await settle(number);
      const other = await join();
      await settle(4, good, other);
      await ledger.leave(me);
      expect(await ledger.prune({ maxBytes: 1e9 })).toEqual({ requests: 0, batches: 0, bytes: 0 });
      expect(await ledger.prune({ maxBytes: 0 })).toMatchObject({ requests: 3 });
      expect(await ask(1, { owner: other })).toMatchObject({ is: 'mine' });
      expect(await ask(4, { owner: other })).toMatchObject({ is: 'answered' });
    });

    it('forgets what was asked long ago and never sent', async () => {
      const bench = await openBench(subject);
      const { ledger, me, ask, join } = bench;
      const { request } = await ask(1);
      const other = await join();
      await ledger.leave(me);
      bench.clock.time = 3_000;
      expect(await ledger.prune({ olderThan: 2_000 })).toMatchObject({ requests: 0 });
      expect(await ledger.prune({ olderThan: 1_999 })).toMatchObject({ requests: 1 });
      const again = await ask(1, { owner: other });
      expect(again.is).toBe('mine');
      expect(again.request).not.toBe(request);
    });
  });

  describe('toAskAgain', () => {
    it('names every request that has moved on since its waiter was told', async () => {
      const { ledger, me, queue, ask, join } = await openBench(subject);
      const gone = await join();
      const plan = (owner: number, request: number) =>
        ledger.plan(owner, { token: newToken(), queue, tags: {} }, [request]);
      const admit = async (number: number, owner = me) => (await ask(number, { owner })).request;
      const [answered, withdrawn, planned] = [await admit(1), await admit(2), await admit(3)];
      const [left, member] = [await admit(4, gone), await admit(5, gone)];
      const { batch } = await plan(gone, member);
      const waits = [answered, withdrawn, planned, left].map((request): Wait => ({ request }));
      await ledger.settled(me, [{ request: answered, is: 'answer', answer: good }]);
      await ledger.withdraw(me, [withdrawn]);
      await plan(me, planned);
      await ledger.leave(gone, { finished: false });
      const named = await ledger.toAskAgain([...waits, { request: member, batch }]);
      expect(new Set(named)).toEqual(new Set([answered, withdrawn, planned, left, member]));
      expect(await ledger.toAskAgain([])).toEqual([]);
    });
  });

  describe('changed', () => {
    it('differs after an outcome and stays the same in between', async () => {
      const { ledger, settle } = await openBench(subject);
      const before = await ledger.changed();
      expect(await ledger.changed()).toBe(before);
      await settle(1);
      expect(await ledger.changed()).not.toBe(before);
    });
  });

  describe('leave and close', () => {
    it('may be repeated, and what was left is free for others', async () => {
      const { ledger, me, join, ask } = await openBench(subject);
      const other = await join();
      const { request } = await ask(1);
      expect(await ask(1, { owner: other })).toMatchObject({ is: 'wait', request });
      await ledger.leave(me);
      await ledger.leave(me);
      await ledger.leave(987_654);
      expect(await ask(1, { owner: other })).toMatchObject({ is: 'mine', request });
      await Promise.all([ledger.close(), ledger.close()]);
      await ledger.close();
    });
  });
}
