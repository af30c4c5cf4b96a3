import { describe, expect, it } from 'vitest';
import {
  bad,
  fingerprintOf,
  good,
  type LedgerSubject,
  openBench,
  type Sent,
} from './subject.test-helper.ts';

export function readingConformance(subject: LedgerSubject): void {
  describe('members', () => {
    it('come in pages, in their order, with state and answer', async () => {
      const bench = await openBench(subject);
      const { ledger, send } = bench;
      const { lease, requests } = await send([1, 2, 3]);
      const [token] = (await ledger.list()).map((batch) => batch.token);
      bench.clock.time = 2_000;
      await ledger.collected(lease, [
        { request: requests[2]!, is: 'answer', answer: bad },
        { request: requests[0]!, is: 'answer', answer: good },
      ]);
      const first = await ledger.members(token!, { limit: 2 });
      expect(first.members).toEqual([
        {
          request: requests[0],
          fingerprint: expect.anything(),
          occurrence: 0,
          attempt: 0,
          state: 'answered',
          at: 2_000,
          answer: good,
        },
        expect.objectContaining({ request: requests[1], state: 'planned', at: 1_000 }),
      ]);
      expect(Buffer.from(first.members[0]!.fingerprint)).toEqual(Buffer.from(fingerprintOf(1)));
      expect(first.members[1]).not.toHaveProperty('answer');
      const rest = await ledger.members(token!, { from: first.next!, limit: 2 });
      expect(rest.members).toMatchObject([{ request: requests[2], state: 'failed', answer: bad }]);
      expect(rest).not.toHaveProperty('next');
      await ledger.ended(lease);
      const after = await ledger.members(token!, { limit: 10 });
      expect(after.members.map(({ state }) => state)).toEqual(['answered', 'failed']);
    });

    it('of a batch that nobody knows are none', async () => {
      const { ledger } = await openBench(subject);
      expect(await ledger.members('nobody', { limit: 5 })).toEqual({ members: [] });
    });
  });

  describe('answers', () => {
    it('are the final ones of the requests that are asked for, errors included', async () => {
      const { ledger, send } = await openBench(subject);
      const { lease, requests } = await send([1, 2, 3, 4]);
      await ledger.collected(lease, [
        { request: requests[0]!, is: 'answer', answer: good },
        { request: requests[1]!, is: 'answer', answer: bad },
        { request: requests[2]!, is: 'retry' },
      ]);
      const asked = [requests[1]!, requests[2]!, requests[3]!, requests[0]!, 999_999];
      const expected = new Map([
        [requests[0], good],
        [requests[1], bad],
      ]);
      expect(await ledger.answers(asked)).toEqual(expected);
      await ledger.ended(lease);
      expect(await ledger.answers(asked)).toEqual(expected);
      expect(await ledger.answers([])).toEqual(new Map());
    });
  });

  describe('lines', () => {
    it('are the members as a claim tells of them', async () => {
      const { ledger, send } = await openBench(subject);
      const { lease, requests } = await send([1, 2, 3]);
      await ledger.collected(lease, [
        { request: requests[0]!, is: 'answer', answer: good },
        { request: requests[1]!, is: 'retry' },
      ]);
      const lines = await ledger.lines(lease.batch);
      expect(lines).toMatchObject([
        { request: requests[0], occurrence: 0, attempt: 0, settled: true },
        { request: requests[2], settled: false },
      ]);
      expect(Buffer.from(lines[1]!.fingerprint)).toEqual(Buffer.from(fingerprintOf(3)));
    });
  });

  describe('a request that was let go of', () => {
    it('is its owner’s to send again when that returns, and nobody else’s', async () => {
      const { ledger, me, ask, send, join } = await openBench(subject);
      const { lease, requests } = await send([1]);
      await ledger.collected(lease, [{ request: requests[0]!, is: 'retry' }]);
      await ledger.ended(lease);
      expect(await ask(1)).toMatchObject({ is: 'wait' });
      expect(await ask(1, { owner: await join(), returning: true })).toMatchObject({ is: 'wait' });
      const again = { request: requests[0], is: 'mine', attempt: 1 };
      expect(await ask(1, { owner: me, returning: true })).toMatchObject(again);
    });
  });

  describe('batchTimes', () => {
    const of = { provider: 'openai', model: 'gpt-4o-mini' };

    it('are those of batches under way, and of batches that ended with nearly all answers', async () => {
      const bench = await openBench(subject);
      const { ledger, send, clock } = bench;
      const answered = async ({ lease, requests }: Sent, count = requests.length) => {
        const some = requests.slice(0, count);
        const answers = some.map((request) => ({ request, is: 'answer', answer: bad }) as const);
        await ledger.collected(lease, answers);
      };
      const done = await send([1, 2]);
      const cut = await send([3, 4]);
      const failed = await send([5]);
      clock.time = 5_000;
      await answered(done);
      await ledger.ended(done.lease);
      await answered(cut, 1);
      await ledger.ended(cut.lease);
      await ledger.ended(failed.lease, 'invalid');
      await send([6]);
      clock.time = 7_000;
      const times = await ledger.batchTimes(of);
      expect(times).toEqual([
        { ...of, token: expect.any(String), count: 1, age: 2_000 },
        { ...of, token: expect.any(String), count: 2, age: 6_000, duration: 4_000 },
      ]);
      expect(await ledger.batchTimes()).toEqual(times);
      expect(await ledger.batchTimes({ ...of, model: 'another' })).toEqual([]);
      // A clock that was set back makes no age negative.
      clock.time = 0;
      expect((await ledger.batchTimes(of)).map(({ age }) => age)).toEqual([0, 0]);
    });

    it('are known of what has ended, however many batches are under way', async () => {
      const { ledger, send, clock } = await openBench(subject);
      const { lease, requests } = await send([1]);
      clock.time = 5_000;
      await ledger.collected(lease, [
        { request: requests[0] as number, is: 'answer', answer: bad },
      ]);
      await ledger.ended(lease);
      for (let number = 2; number < 103; number += 1) await send([number]);
      const times = await ledger.batchTimes(of);
      expect(times).toHaveLength(101);
      expect(times.at(-1)).toMatchObject({ duration: expect.any(Number) });
      expect(times.filter(({ duration }) => duration !== undefined)).toHaveLength(1);
    });

    it('are bounded in number, and the newest come first', async () => {
      const { ledger, send } = await openBench(subject);
      for (let number = 0; number < 101; number += 1) await send([number]);
      const times = await ledger.batchTimes(of);
      const [newest] = await ledger.list({ limit: 1 });
      expect(times).toHaveLength(100);
      expect(times[0]?.token).toBe(newest?.token);
    });
  });

  describe('unfinished', () => {
    it('holds what is needed to reach a batch, and who works on it', async () => {
      const { ledger, me, queue, send, join } = await openBench(subject);
      const hash = new Uint8Array(32);
      // The newest name of the variable counts; one that nobody knows changes nothing.
      for (const hint of ['env:OLD', 'env:OPENAI_API_KEY']) {
        await ledger.account({ provider: 'openai', hash, hint });
      }
      await ledger.account({ provider: 'openai', hash });
      const other = await join();
      const mine = await send([1]);
      const theirs = await send([2, 3], other);
      const done = await send([4]);
      await ledger.ended(done.lease);
      await ledger.leave(other);
      const [first, second, ...more] = await ledger.unfinished();
      expect(more).toEqual([]);
      expect(first).toMatchObject({
        id: mine.lease.batch,
        state: 'accepted',
        count: 1,
        remoteId: `remote-${mine.lease.batch}`,
        queue: { id: queue, base: 'https://api.openai.com/v1', model: 'gpt-4o-mini' },
        account: { provider: 'openai', hint: 'env:OPENAI_API_KEY' },
        owner: { host: 'here', pid: 1 },
      });
      expect(Buffer.from(first!.account.hash)).toEqual(Buffer.from(hash));
      expect(second).toMatchObject({ id: theirs.lease.batch, count: 2 });
      expect(second).not.toHaveProperty('owner');
      await ledger.leave(me);
    });
  });

  describe('a dry run of prune', () => {
    it('says what prune then drops, and drops nothing', async () => {
      const bench = await openBench(subject);
      const { ledger, me, settle, send, join } = bench;
      await settle(1);
      const done = await send([2, 3]);
      const answers = done.requests.map(
        (request) => ({ request, is: 'answer', answer: good }) as const,
      );
      await ledger.collected(done.lease, answers);
      await ledger.ended(done.lease);
      await send([4]);
      const other = await join();
      await ledger.leave(me);
      bench.clock.time = 9_000;
      await settle(5, good, other);
      for (const query of [{ olderThan: 1_000, maxBytes: 0 }, { maxBytes: 0 }, { olderThan: 1 }]) {
        expect(await ledger.prune({ ...query, dryRun: true })).toMatchObject({
          requests: 3,
          batches: 1,
        });
      }
      expect(await ledger.list()).toHaveLength(2);
      const told = await ledger.prune({ olderThan: 1_000, dryRun: true });
      expect(await ledger.prune({ olderThan: 1_000 })).toEqual(told);
      expect(await ledger.list()).toHaveLength(1);
    });
  });

  describe('an owner that leaves its run unfinished', () => {
    it.each(['answers', 'none'] as const)('hands its answers on, with keep: %s', async (keep) => {
      const { ledger, me, ask, join, settle } = await openBench(subject, { keep });
      await settle(1);
      await ledger.leave(me, { finished: false });
      const next = await join();
      expect(await ask(1, { owner: next, cache: false })).toMatchObject({ is: 'answered' });
      await ledger.leave(next);
      const last = await join();
      expect(await ask(1, { owner: last, cache: false })).toMatchObject({ is: 'mine' });
      expect(await ledger.claimable()).toEqual([]);
    });
  });
}
