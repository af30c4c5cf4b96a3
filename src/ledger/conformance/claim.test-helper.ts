import { describe, expect, it } from 'vitest';
import { LeaseLostError } from '../../base/errors.ts';
import {
  bad,
  expectStale,
  fingerprintOf,
  good,
  type LedgerSubject,
  newToken,
  openBench,
} from './subject.test-helper.ts';

export function claimConformance(subject: LedgerSubject): void {
  describe('claim', () => {
    it('tells the next owner in which traces a batch was asked', async () => {
      const { ledger, me, queue, ask, join } = await openBench(subject);
      const traces = ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'];
      const planned = async (number: number, more: { traces?: readonly string[] }) => {
        const { request } = await ask(number);
        const batch = { token: newToken(), queue, tags: {}, ...more };
        return (await ledger.plan(me, batch, [request])).batch;
      };
      const [traced, untraced] = [await planned(1, { traces }), await planned(2, {})];
      await ledger.leave(me, { finished: false });
      const next = await join();
      expect((await ledger.claim(next, traced))?.traces).toEqual(traces);
      expect(await ledger.claim(next, untraced)).not.toHaveProperty('traces');
    });

    it('gives everything that is needed to go on', async () => {
      const bench = await openBench(subject);
      const { ledger, me, join, send } = bench;
      const { lease, requests } = await send([1, 2]);
      await ledger.collected(lease, [{ request: requests[0]!, is: 'answer', answer: good }], 'c7');
      const other = await join();
      await ledger.leave(me);
      bench.clock.time += 500;
      const { token } = (await ledger.list())[0]!;
      expect(await ledger.claimable()).toEqual([lease.batch]);
      expect(await ledger.claim(other, lease.batch)).toEqual({
        lease: { batch: lease.batch, owner: other, epoch: lease.epoch + 1 },
        token,
        state: 'accepted',
        queue: {
          id: bench.queue,
          account: expect.any(Number),
          provider: 'openai',
          base: 'https://api.openai.com/v1',
          endpoint: '/v1/chat/completions',
          model: 'gpt-4o-mini',
          batchHeaders: {},
        },
        handle: { fileId: 'file-1' },
        remoteId: `remote-${lease.batch}`,
        cursor: 'c7',
        creatingAge: 500,
        acceptedAge: 500,
        members: [1, 2].map((number, index) => ({
          request: requests[index],
          fingerprint: fingerprintOf(number),
          occurrence: 0,
          attempt: 0,
          settled: index === 0,
        })),
      });
      expect(await ledger.claimable()).toEqual([]);
    });

    it('gives no negative ages after the clock was set back', async () => {
      const bench = await openBench(subject);
      const { ledger, me, join, send } = bench;
      bench.clock.time = 3_600_000;
      const { lease } = await send([1]);
      const other = await join();
      await ledger.leave(me);
      bench.clock.time = 2_000;
      const ages = { creatingAge: 0, acceptedAge: 0 };
      expect(await ledger.claim(other, lease.batch)).toMatchObject(ages);
    });

    it('refuses while the owner is here, for the owner itself, and after the end', async () => {
      const { ledger, me, join, send } = await openBench(subject);
      const [open, ended] = [await send([1]), await send([2])];
      await ledger.ended(ended.lease);
      const other = await join();
      expect(await ledger.claim(other, open.lease.batch)).toBeUndefined();
      expect(await ledger.claim(me, open.lease.batch)).toBeUndefined();
      await ledger.leave(me);
      expect(await ledger.claim(other, ended.lease.batch)).toBeUndefined();
      expect(await ledger.claim(other, 987_654)).toBeUndefined();
    });

    it('is won by one of two', async () => {
      const { ledger, me, join, send } = await openBench(subject);
      const { lease } = await send([1]);
      const [one, two] = [await join(), await join()];
      await ledger.leave(me);
      const claims = [ledger.claim(one, lease.batch), ledger.claim(two, lease.batch)];
      const won = (await Promise.all(claims)).filter((claim) => claim !== undefined);
      expect(won).toHaveLength(1);
    });

    it('is open to everyone once the owner has given the batch back', async () => {
      const { ledger, me, ask, join, send } = await openBench(subject);
      const { lease, requests } = await send([1]);
      await ledger.giveBack(lease);
      expect(await ledger.claimable()).toEqual([lease.batch]);
      await expect(ledger.giveBack(lease)).rejects.toThrow(LeaseLostError);
      await expect(ledger.ended(lease)).rejects.toThrow(LeaseLostError);
      expect(await ask(1)).toMatchObject({ is: 'wait', batch: lease.batch });
      const mine = await ledger.claim(me, lease.batch);
      expect(mine?.members).toMatchObject([{ request: requests[0], settled: false }]);
      await expectStale(ledger, lease, requests[0]!);
      const other = await join();
      expect(await ledger.claim(other, lease.batch)).toBeUndefined();
      await ledger.giveBack(mine!.lease);
      const theirs = await ledger.claim(other, lease.batch);
      expect(theirs?.lease).toEqual({ batch: lease.batch, owner: other, epoch: lease.epoch + 2 });
      await ledger.ended(theirs!.lease);
      expect(await ledger.claimable()).toEqual([]);
    });

    it('can be limited to an account', async () => {
      const { ledger, me, send } = await openBench(subject);
      const { lease } = await send([1]);
      await ledger.leave(me);
      const key = { provider: 'openai', hash: new Uint8Array(32) };
      const another = { provider: 'openai', hash: new Uint8Array(32).fill(9) };
      expect(await ledger.claimable(await ledger.account(key))).toEqual([lease.batch]);
      expect(await ledger.claimable(await ledger.account(another))).toEqual([]);
    });

    it('puts an end to every write under the old lease', async () => {
      const { ledger, me, join, send } = await openBench(subject);
      const { lease, requests } = await send([1]);
      const other = await join();
      await ledger.leave(me);
      const claimed = await ledger.claim(other, lease.batch);
      await expectStale(ledger, lease, requests[0]!);
      await ledger.ended(claimed!.lease);
    });

    it('costs other batches of one poll nothing', async () => {
      const { ledger, me, join, send } = await openBench(subject);
      const lost = await send([1]);
      const other = await join();
      await ledger.leave(me);
      await ledger.claim(other, lost.lease.batch);
      const kept = await send([2], other);
      const remote = (lease: { batch: number }) => ({ id: `new-${lease.batch}`, raw: 'running' });
      const updates = [lost, kept].map(({ lease }) => ({ lease, remote: remote(lease) }));
      await expect(ledger.polled(updates)).rejects.toThrow(LeaseLostError);
      expect(await ledger.show(`new-${kept.lease.batch}`)).toMatchObject({ raw: 'running' });
      expect(await ledger.show(`new-${lost.lease.batch}`)).toBeUndefined();
    });

    it('makes the claimer the owner of what is answered afterwards', async () => {
      const { ledger, me, ask, join, send } = await openBench(subject);
      const { lease, requests } = await send([1]);
      const [second, third] = [await join(), await join()];
      await ledger.leave(me);
      const claimed = await ledger.claim(second, lease.batch);
      const request = requests[0]!;
      await ledger.collected(claimed!.lease, [{ request, is: 'answer', answer: good }]);
      expect(await ask(1, { owner: third, cache: false })).toMatchObject({ is: 'answered' });
    });
  });

  describe('the count of attempts', () => {
    it('goes on with the next owner, for as long as there is no outcome', async () => {
      const { ledger, me, ask, join, send } = await openBench(subject);
      const { lease, requests } = await send([1]);
      const request = requests[0]!;
      await ledger.collected(lease, [{ request, is: 'retry' }]);
      await ledger.ended(lease);
      const [second, third, fourth] = [await join(), await join(), await join()];
      await ledger.leave(me);
      expect(await ask(1, { owner: second })).toEqual({
        request,
        occurrence: 0,
        is: 'mine',
        attempt: 1,
      });
      // Planned, given up before it was sent, and left once more: nothing of that is an attempt.
      const token = newToken();
      const plan = await ledger.plan(second, { token, queue: 1, tags: {} }, [request]);
      await ledger.released(plan);
      await ledger.leave(second);
      expect(await ask(1, { owner: third })).toMatchObject({ is: 'mine', attempt: 1 });
      await ledger.settled(third, [{ request, is: 'answer', answer: bad }]);
      expect(await ask(1, { owner: fourth })).not.toHaveProperty('attempt');
    });
  });
}
