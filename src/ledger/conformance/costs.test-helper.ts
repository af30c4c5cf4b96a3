import { describe, expect, it } from 'vitest';
import {
  fingerprintOf,
  good,
  type LedgerSubject,
  newRun,
  newToken,
  openBench,
} from './subject.test-helper.ts';

const cost = { inputTokens: 100, outputTokens: 10, paid: 0.5, saved: 0.25 };
const chat = { provider: 'openai', endpoint: '/v1/chat/completions', model: 'gpt-4o-mini' };

export function costConformance(subject: LedgerSubject): void {
  describe('the cost of a batch', () => {
    it('is its estimate at first, and grows with its answers', async () => {
      const { ledger, me, queue, ask } = await openBench(subject);
      const rows = [await ask(1), await ask(2), await ask(3)].map(({ request }) => request);
      const [one, two, three] = rows as [number, number, number];
      const batch = { token: newToken(), queue, tags: {}, estimate: 4 };
      const lease = await ledger.plan(me, batch, rows);
      expect((await ledger.list())[0]?.cost).toEqual({ estimate: 4 });
      await ledger.creating(lease, {}, { alone: false });
      await ledger.accepted(lease, { id: 'remote', raw: 'running' });
      await ledger.collected(lease, [{ request: one, is: 'answer', answer: good, cost }]);
      await ledger.collected(lease, [
        { request: two, is: 'answer', answer: good, cost: { inputTokens: 7, outputTokens: 0 } },
        { request: three, is: 'retry' },
      ]);
      const sum = { estimate: 4, inputTokens: 107, outputTokens: 10, paid: 0.5, saved: 0.25 };
      expect((await ledger.show(batch.token))?.cost).toEqual(sum);
      await ledger.ended(lease);
      expect((await ledger.show(batch.token))?.cost).toEqual(sum);
    });

    it('is not said where nothing is known of it', async () => {
      const { ledger, send } = await openBench(subject);
      const { lease, requests } = await send([1]);
      await ledger.collected(lease, [{ request: requests[0]!, is: 'answer', answer: good }]);
      expect((await ledger.list())[0]).not.toHaveProperty('cost');
    });

    it('counts once whatever owner collects it', async () => {
      const { ledger, me, join, send } = await openBench(subject);
      const { lease, requests } = await send([1, 2]);
      const answers = requests.map(
        (request) => ({ request, is: 'answer', answer: good, cost }) as const,
      );
      await ledger.collected(lease, answers.slice(0, 1));
      const other = await join();
      await ledger.leave(me);
      const claimed = await ledger.claim(other, lease.batch);
      const open = claimed!.members.filter(({ settled }) => !settled).map(({ request }) => request);
      await ledger.collected(
        claimed!.lease,
        answers.filter(({ request }) => open.includes(request)),
      );
      expect((await ledger.list())[0]?.cost).toMatchObject({ paid: 1, inputTokens: 200 });
    });

    it('is the average output of the next ones', async () => {
      const { ledger, send } = await openBench(subject);
      expect(await ledger.averageOutput(chat)).toBeUndefined();
      const { lease, requests } = await send([1, 2, 3]);
      const output = [10, 50, undefined];
      await ledger.collected(
        lease,
        requests.map((request, index) => {
          const outputTokens = output[index];
          const known = outputTokens !== undefined && { cost: { ...cost, outputTokens } };
          return { request, is: 'answer', answer: good, ...known };
        }),
      );
      expect(await ledger.averageOutput(chat)).toBe(30);
      expect(await ledger.averageOutput({ ...chat, model: 'another' })).toBeUndefined();
    });

    it('is the average output of one answer, where requests got several', async () => {
      const { ledger, send } = await openBench(subject);
      const { lease, requests } = await send([1, 2]);
      const [one, two] = requests as [number, number];
      const costs = [
        { ...cost, outputTokens: 90, answers: 9 },
        { ...cost, outputTokens: 30 },
      ];
      await ledger.collected(lease, [
        { request: one, is: 'answer', answer: good, cost: costs[0]! },
        { request: two, is: 'answer', answer: good, cost: costs[1]! },
      ]);
      expect(await ledger.averageOutput(chat)).toBe(12);
    });
  });

  describe('a budget', () => {
    it('is shared by all owners of a run, and by no other run', async () => {
      const { ledger, queue, ask, join } = await openBench(subject);
      const run = newRun();
      const plan = async (owner: number, fingerprint: number, estimate: number) => {
        const { request } = await ask(fingerprint, { owner });
        const batch = { token: newToken(), queue, tags: {}, estimate, budget: 10 };
        return ledger.plan(owner, batch, [request]);
      };
      const [one, two] = [await join(run), await join(run)];
      await plan(one, 1, 6);
      await expect(plan(two, 2, 5)).rejects.toMatchObject({
        code: 'OVER_BUDGET',
        facts: { budget: 10, spent: 0, underWay: 6, estimate: 5 },
      });
      expect(await ask(2, { owner: one })).toMatchObject({ is: 'wait' });
      expect(await ledger.list()).toHaveLength(1);
      await plan(two, 3, 4);
      await plan(await join(), 4, 10);
    });

    it('counts what was paid once a batch is over, and nothing of one that was refused', async () => {
      const { ledger, me, queue, ask } = await openBench(subject);
      const plan = async (fingerprint: number, estimate: number) => {
        const { request } = await ask(fingerprint);
        const batch = { token: newToken(), queue, tags: {}, estimate, budget: 1 };
        return { lease: await ledger.plan(me, batch, [request]), request };
      };
      const refused = await plan(1, 1);
      await ledger.refused(refused.lease, 'no');
      const { lease, request } = await plan(2, 1);
      await ledger.creating(lease, {}, { alone: false });
      await ledger.accepted(lease, { id: 'remote', raw: 'running' });
      await expect(plan(3, 0.1)).rejects.toMatchObject({ facts: { underWay: 1 } });
      await ledger.collected(lease, [{ request, is: 'answer', answer: good, cost }]);
      await expect(plan(4, 0.1)).rejects.toMatchObject({ facts: { spent: 0.5, underWay: 0.5 } });
      await ledger.ended(lease);
      await plan(5, 0.5);
      await expect(plan(6, 0.1)).rejects.toMatchObject({ code: 'OVER_BUDGET' });
    });

    it('does not count a batch whose owner has gone before it was created', async () => {
      const { ledger, queue, ask, join } = await openBench(subject);
      const run = newRun();
      const plan = async (owner: number, fingerprint: number) => {
        const { request } = await ask(fingerprint, { owner });
        const batch = { token: newToken(), queue, tags: {}, estimate: 6, budget: 10 };
        return ledger.plan(owner, batch, [request]);
      };
      const [gone, creating, here] = [await join(run), await join(run), await join(run)];
      await ledger.staged(await plan(gone, 1), {});
      await expect(plan(here, 2)).rejects.toMatchObject({ facts: { underWay: 6 } });
      await ledger.leave(gone, { finished: false });
      await ledger.creating(await plan(creating, 3), {}, { alone: false });
      await ledger.leave(creating, { finished: false });
      await expect(plan(here, 4)).rejects.toMatchObject({ facts: { underWay: 6 } });
    });

    it('may be for something else than a run, over all runs, and outlives their owners', async () => {
      const { ledger, queue, ask, join } = await openBench(subject);
      const purse = 'day 2026-11-16';
      const plan = async (owner: number, fingerprint: number, given: object) => {
        const { request } = await ask(fingerprint, { owner });
        const batch = { token: newToken(), queue, tags: {}, estimate: 4, budget: 10, ...given };
        return ledger.plan(owner, batch, [request]);
      };
      const [one, two] = [await join(), await join()];
      await ledger.creating(await plan(one, 1, { purse }), {}, { alone: false });
      await ledger.spend(one, 3, 10, purse);
      await ledger.leave(one, { finished: true });
      await ledger.prune({ olderThan: 0 });
      await expect(plan(two, 2, { purse })).rejects.toMatchObject({
        facts: { budget: 10, spent: 3, underWay: 4, estimate: 4 },
      });
      await expect(ledger.spend(two, 4, 10, purse)).rejects.toMatchObject({ facts: { spent: 3 } });
      await plan(two, 3, { purse: 'day 2026-11-17' });
      await plan(two, 4, {});
    });

    it('counts what was spent outside of batches', async () => {
      const { ledger, me } = await openBench(subject);
      await ledger.spend(me, 6, 10);
      await expect(ledger.spend(me, 5, 10)).rejects.toMatchObject({
        code: 'OVER_BUDGET',
        facts: { budget: 10, spent: 6, underWay: 0, estimate: 5 },
      });
      await ledger.spend(me, -3);
      await ledger.spend(me, 5, 10);
    });
  });

  describe('look', () => {
    const asked = (bench: { queue: number }, fingerprint: Uint8Array, cache = true) => ({
      fingerprint,
      occurrence: 0,
      queue: bench.queue,
      cache,
    });

    it('says what a new owner would be told, and leaves no trace', async () => {
      const bench = await openBench(subject);
      const { ledger, me, ask, send, settle, join } = bench;
      await settle(1);
      await send([2]);
      await ask(3);
      const run = newRun();
      const fingerprints = [1, 2, 3, 4].map(fingerprintOf);
      const look = () =>
        ledger.look(
          run,
          fingerprints.map((one) => asked(bench, one)),
        );
      const [answered, ...others] = await look();
      expect(answered).toMatchObject({ is: 'answered', answer: { status: 200, body: good.body } });
      expect(others.map(({ is }) => is)).toEqual(['wait', 'wait', 'new']);
      await ledger.leave(me);
      expect((await look()).map(({ is }) => is)).toEqual(['answered', 'wait', 'new', 'new']);
      const fresh = fingerprints.map((one) => asked(bench, one, false));
      const withoutCache = await ledger.look(run, fresh);
      expect(withoutCache.map(({ is }) => is)).toEqual(['new', 'wait', 'new', 'new']);
      expect(await ask(4, { owner: await join() })).toMatchObject({ is: 'mine' });
    });
  });
}
