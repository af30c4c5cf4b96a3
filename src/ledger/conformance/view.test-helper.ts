import { describe, expect, it } from 'vitest';
import type { BatchQuery } from '../view.ts';
import {
  type Bench,
  bad,
  fingerprintOf,
  good,
  type LedgerSubject,
  newToken,
  openBench,
} from './subject.test-helper.ts';

let last = 1_000;

/** Plans a batch of one request, and tells its token. */
async function planned(
  { ledger, me, queue, ask }: Bench,
  more: { name?: string; tags?: Record<string, string>; queue?: number } = {},
) {
  last += 1;
  const { request } = await ask(last, { queue: more.queue ?? queue });
  const token = newToken();
  const lease = await ledger.plan(me, { token, queue, tags: {}, ...more }, [request]);
  return { token, lease, request };
}

async function otherQueue({ ledger }: Bench): Promise<number> {
  const account = await ledger.account({ provider: 'groq', hash: new Uint8Array(32) });
  const place = {
    provider: 'groq',
    base: 'https://api.groq.com',
    endpoint: '/v1/chat/completions',
  };
  return ledger.queue({ ...place, account, model: 'llama', batchHeaders: {} });
}

/** What people look at: see `LedgerView`. */
export function viewConformance(subject: LedgerSubject): void {
  describe('the view', () => {
    it('shows batches by state, provider, model, name and tag, the newest first', async () => {
      const bench = await openBench(subject);
      const { ledger } = bench;
      const groq = await otherQueue(bench);
      const a = await planned(bench, { name: 'Nightly 100%', tags: { team: 'search', n: '1' } });
      const b = await planned(bench, { queue: groq, tags: { team: 'ads' } });
      const c = await planned(bench, { name: 'daily' });
      await ledger.refused(c.lease, 'no such model');
      const tokens = async (query: Partial<BatchQuery>) => {
        const page = await ledger.view.batches({ limit: 10, ...query });
        return page.batches.map(({ token }) => token);
      };
      expect(await tokens({})).toEqual([c.token, b.token, a.token]);
      expect(await tokens({ provider: 'groq' })).toEqual([b.token]);
      expect(await tokens({ model: 'gpt-4o-mini' })).toEqual([c.token, a.token]);
      expect(await tokens({ model: 'gpt-4o-mini', provider: 'groq' })).toEqual([]);
      expect(await tokens({ states: ['planned'] })).toEqual([b.token, a.token]);
      expect(await tokens({ states: ['refused', 'ended'] })).toEqual([c.token]);
      expect(await tokens({ failed: true })).toEqual([c.token]);
      expect(await tokens({ name: 'NIGHT' })).toEqual([a.token]);
      expect(await tokens({ name: '100%' })).toEqual([a.token]);
      expect(await tokens({ name: '%' })).toEqual([a.token]);
      expect(await tokens({ tag: { key: 'team', value: 'ads' } })).toEqual([b.token]);
      expect(await tokens({ tag: { key: 'team', value: 'a' } })).toEqual([]);
      expect(await ledger.view.models()).toEqual([
        { provider: 'groq', model: 'llama' },
        { provider: 'openai', model: 'gpt-4o-mini' },
      ]);
    });

    it('finds names by letters of any case and language, and tags as they are', async () => {
      const bench = await openBench(subject);
      const a = await planned(bench, { name: 'ÜBERSETZUNGEN', tags: { team: 'Search' } });
      const b = await planned(bench, { name: 'Переводы', tags: { team: 'search' } });
      const tokens = async (query: Partial<BatchQuery>) => {
        const page = await bench.ledger.view.batches({ limit: 10, ...query });
        return page.batches.map(({ token }) => token);
      };
      expect(await tokens({ name: 'Über' })).toEqual([a.token]);
      expect(await tokens({ name: 'ПЕРЕ' })).toEqual([b.token]);
      expect(await tokens({ name: 'ß' })).toEqual([]);
      expect(await tokens({ tag: { key: 'team', value: 'search' } })).toEqual([b.token]);
      expect(await tokens({ states: ['planned'], name: 'über' })).toEqual([a.token]);
    });

    it('shows batches in pages', async () => {
      const bench = await openBench(subject);
      const made = [];
      for (let count = 0; count < 5; count += 1) made.push((await planned(bench)).token);
      for (const query of [{}, { states: ['planned'] }] satisfies Partial<BatchQuery>[]) {
        const seen = [];
        let next: number | undefined;
        do {
          const before = next === undefined ? {} : { before: next };
          const page = await bench.ledger.view.batches({ limit: 2, ...query, ...before });
          expect(page.batches.length).toBeLessThanOrEqual(2);
          seen.push(...page.batches.map(({ token }) => token));
          next = page.next;
        } while (next !== undefined);
        expect(seen).toEqual([...made].reverse());
      }
    });

    it('counts the members of a batch by state, before and after its end', async () => {
      const { ledger, send } = await openBench(subject);
      const { lease, requests } = await send([1, 2, 3, 4]);
      const [batch] = await ledger.list();
      const settle = (request: number, answer = good) =>
        ledger.collected(lease, [{ request, is: 'answer', answer }]);
      await settle(requests[0]!);
      await settle(requests[1]!, bad);
      const token = batch!.token;
      expect(await ledger.view.tally(token)).toEqual({ planned: 2, answered: 1, failed: 1 });
      await settle(requests[2]!);
      await ledger.ended(lease);
      expect(await ledger.view.tally(token)).toEqual({ planned: 0, answered: 2, failed: 1 });
      expect(await ledger.view.tally('nobody')).toEqual({ planned: 0, answered: 0, failed: 0 });
    });

    it('counts what waits, by queue and owner, and tells whether that is here', async () => {
      const bench = await openBench(subject);
      const { ledger, ask, join, send, clock } = bench;
      const run = 'a run of its own';
      const other = await join(run);
      clock.time = 5_000;
      const { request } = await ask(1);
      clock.time = 7_000;
      await ask(2);
      await ask(3, { owner: other });
      await send([4, 5]);
      await ledger.markSent(bench.me, [request], true);
      const place = { provider: 'openai', model: 'gpt-4o-mini', endpoint: '/v1/chat/completions' };
      const { queues, isMore } = await ledger.view.waiting();
      expect(isMore).toBe(false);
      expect(queues).toHaveLength(2);
      expect(queues).toContainEqual(
        expect.objectContaining({ ...place, count: 2, sent: 1, since: 5_000 }),
      );
      expect(queues).toContainEqual(
        expect.objectContaining({ count: 1, sent: 0, owner: { run, host: 'here', pid: 1 } }),
      );
      await ledger.leave(other);
      const after = (await ledger.view.waiting()).queues.find(({ count }) => count === 1);
      expect(after).toBeDefined();
      expect(after).not.toHaveProperty('owner');
    });

    it('shows what is in the way of an owner until that is over, or the owner is gone', async () => {
      const { ledger, ask, send, join } = await openBench(subject);
      const other = await join('a run of its own');
      await ask(1, { owner: other });
      const owners = async () => {
        const { queues } = await ledger.view.waiting();
        return [...queues, ...(await ledger.unfinished())].map(({ owner }) => owner);
      };
      await ledger.troubled(other, ['no room: "waiting"', 'cannot reach api.openai.com']);
      const troubles = ['no room: "waiting"', 'cannot reach api.openai.com'];
      const run = 'a run of its own';
      expect(await owners()).toEqual([{ run, host: 'here', pid: 1, troubles }]);
      await ledger.troubled(other, []);
      expect(await owners()).toEqual([{ run, host: 'here', pid: 1 }]);
      await ledger.troubled(other, ['no room']);
      await ledger.leave(other);
      expect(await owners()).toEqual([undefined]);
      await ledger.troubled(other, ['more']);
      expect(await owners()).toEqual([undefined]);
      await send([2]);
      expect((await owners()).at(-1)).not.toHaveProperty('troubles');
    });

    it('counts what waits below many that do not', async () => {
      const { ledger, ask, send } = await openBench(subject);
      await ask(1_000_000);
      for (const from of [0, 35_000]) {
        await send(Array.from({ length: 35_000 }, (_, index) => from + index));
      }
      const { queues, isMore } = await ledger.view.waiting();
      expect(queues).toMatchObject([{ count: 1 }]);
      expect(isMore).toBe(false);
    });

    it('counts what waits, also more than it looks at at once', async () => {
      const { ledger, me, queue } = await openBench(subject);
      const asks = Array.from({ length: 12_001 }, (_, index) => {
        const fingerprint = fingerprintOf(index + 1);
        return { fingerprint, occurrence: 0, queue, cache: true };
      });
      await ledger.admit(me, asks);
      const { queues, isMore } = await ledger.view.waiting();
      expect(queues).toMatchObject([{ count: isMore ? expect.any(Number) : 12_001 }]);
      expect(queues[0]?.count).toBeGreaterThanOrEqual(5_000);
    });

    it('shows what has failed, the newest first, in a batch or not', async () => {
      const { ledger, send, settle } = await openBench(subject);
      await settle(1, bad);
      await settle(2, good);
      const { lease, requests } = await send([3, 4]);
      await ledger.collected(lease, [
        { request: requests[0]!, is: 'answer', answer: { ...bad, status: 429 } },
        { request: requests[1]!, is: 'answer', answer: good },
      ]);
      const failed = await ledger.view.failed(10);
      expect(failed.map(({ answer }) => answer?.status)).toEqual([429, 400]);
      expect(failed[0]?.batch?.token).toBeDefined();
      expect(failed[1]).not.toHaveProperty('batch');
      expect(await ledger.view.failed(1)).toHaveLength(1);
      await ledger.ended(lease);
      expect(await ledger.view.failed(10)).toEqual(
        failed.map((one) => ({ ...one, at: expect.any(Number) })),
      );
    });

    it('shows a request with its answer and its samples', async () => {
      const { ledger, me, ask } = await openBench(subject, { keep: 'all' });
      const first = await ask(1);
      const second = await ask(1, { occurrence: 1 });
      await ask(2);
      await ledger.spool([{ request: second.request, body: '{"q":"Wie geht\'s? \\u0000 世界"}' }]);
      await ledger.settled(me, [{ request: second.request, is: 'answer', answer: good }]);
      const found = await ledger.view.request(second.request);
      expect(found).toMatchObject({
        request: second.request,
        occurrence: 1,
        generation: 0,
        state: 'answered',
        model: 'gpt-4o-mini',
        answer: good,
        body: '{"q":"Wie geht\'s? \\u0000 世界"}',
      });
      const samples = await ledger.view.samples(second.request);
      expect(samples.map(({ request }) => request)).toEqual([first.request, second.request]);
      expect(samples.map(({ state }) => state)).toEqual(['admitted', 'answered']);
      expect(await ledger.view.request(999_999)).toBeUndefined();
      expect(await ledger.view.samples(999_999)).toEqual([]);
    });

    it('shows requests from the newest on, with answers that came just now', async () => {
      const { ledger, send, settle } = await openBench(subject);
      const old = await settle(1);
      const { lease, requests } = await send([2, 3]);
      await ledger.collected(lease, [{ request: requests[1]!, is: 'answer', answer: good }]);
      const page = await ledger.view.requests({ limit: 2 });
      expect(page.map(({ request }) => request)).toEqual([requests[1], requests[0]]);
      expect(page.map(({ state }) => state)).toEqual(['answered', 'planned']);
      expect(page[0]?.answer).toEqual(good);
      const rest = await ledger.view.requests({ before: requests[0]!, limit: 2 });
      expect(rest.map(({ request }) => request)).toEqual([old]);
    });

    it('notices that another owner has written', async () => {
      const { ledger, send } = await openBench(subject);
      const before = await ledger.view.changed();
      await send([1]);
      expect(await ledger.view.changed()).not.toBe(before);
    });
  });
}
