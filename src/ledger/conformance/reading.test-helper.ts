import { describe, expect, it } from 'vitest';
import { bad, fingerprintOf, good, type LedgerSubject, openBench } from './subject.test-helper.ts';

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
