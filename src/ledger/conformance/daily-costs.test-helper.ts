import { describe, expect, it } from 'vitest';
import type { Cost, CostQuery, Ledger } from '../ledger.ts';
import { bad, good, type LedgerSubject, newToken, openBench } from './subject.test-helper.ts';

const cost: Cost = {
  inputTokens: 100,
  outputTokens: 10,
  paid: 0.5,
  saved: 0.25,
  cacheReadTokens: 60,
  cacheWriteTokens: 20,
};
const day = 24 * 60 * 60 * 1_000;

export function dailyCostConformance(subject: LedgerSubject): void {
  describe('the totals of the days', () => {
    it('grow with the answers of batches, beside what these were expected to cost', async () => {
      const { ledger, me, queue, ask } = await openBench(subject);
      const rows = [];
      for (const fingerprint of [1, 2, 3, 4]) rows.push((await ask(fingerprint)).request);
      const [one, two, three, four] = rows as [number, number, number, number];
      const labels = { name: 'nightly', tags: { team: 'search', stage: 'test' } };
      const lease = await ledger.plan(
        me,
        { token: newToken(), queue, estimate: 4, ...labels },
        rows,
      );
      await ledger.creating(lease, {}, { alone: false });
      await ledger.accepted(lease, { id: 'remote', raw: 'running' });
      expect(await ledger.costs({ by: [] })).toEqual([]);

      await ledger.collected(lease, [{ request: one, is: 'answer', answer: good, cost }]);
      const sums = {
        calls: 1,
        unpriced: 0,
        inputTokens: 100,
        outputTokens: 10,
        paid: 0.5,
        saved: 0.25,
        cacheReadTokens: 60,
        cacheWriteTokens: 20,
        estimate: 1,
        estimated: 0.5,
      };
      expect(await ledger.costs({ by: [] })).toEqual([sums]);
      await ledger.collected(lease, [
        { request: two, is: 'answer', answer: good, cost: { inputTokens: 7, outputTokens: 1 } },
        { request: three, is: 'answer', answer: bad },
        { request: four, is: 'retry' },
      ]);
      const all = { ...sums, calls: 2, unpriced: 1, inputTokens: 107, outputTokens: 11 };
      expect(await ledger.costs({ by: [] })).toEqual([all]);
      const by = (...dimensions: CostQuery['by']) => ledger.costs({ by: dimensions });
      expect(await by('day')).toEqual([{ day: '1970-01-01', ...all }]);
      expect(await by('provider', 'model')).toEqual([
        { provider: 'openai', model: 'gpt-4o-mini', ...all },
      ]);
      expect(await by('name', 'lane')).toEqual([{ name: 'nightly', lane: 'batch', ...all }]);
      expect((await by('tag')).map(({ tag }) => tag)).toEqual(['team=search', 'stage=test']);
      const { paid, inputTokens } = (await ledger.list())[0]?.cost ?? {};
      expect({ paid, inputTokens }).toEqual({ paid: 0.5, inputTokens: 107 });
    });

    it('hold answers of a shared batch by who asked', async () => {
      const { ledger, send } = await openBench(subject);
      const { lease, requests } = await send([1, 2, 3, 4]);
      const [one, two, three, four] = requests as [number, number, number, number];
      const of = (request: number, labels?: { name?: string; tags: Record<string, string> }) =>
        ({ request, is: 'answer', answer: good, cost, ...(labels && { labels }) }) as const;
      await ledger.collected(lease, [
        of(one, { name: 'titles', tags: { team: 'a' } }),
        of(two, { tags: {} }),
        of(three, { name: 'titles', tags: { team: 'b' } }),
        of(four),
      ]);
      const calls = async (by: 'name' | 'tag') =>
        Object.fromEntries((await ledger.costs({ by: [by] })).map((row) => [row[by], row.calls]));
      expect(await calls('name')).toEqual({ titles: 2, undefined: 2 });
      expect(await calls('tag')).toEqual({ 'team=a': 1, 'team=b': 1, undefined: 2 });
      expect(await ledger.costs({ by: [] })).toMatchObject([{ calls: 4, paid: 2 }]);
    });

    it('hold ordinary calls by their lane, with the answers or without', async () => {
      const { ledger, me, ask } = await openBench(subject);
      const { request } = await ask(1);
      const labels = { provider: 'openai', model: 'gpt-5', name: 'quick', tags: { a: '1' } };
      const flex = { ...labels, lane: 'flex', costs: [cost] } as const;
      const realtime = { ...labels, lane: 'realtime', costs: [cost, undefined, cost] } as const;
      await ledger.settled(me, [{ request, is: 'answer', answer: good, cost }], [flex]);
      await ledger.settled(me, [], [realtime, { ...realtime, name: undefined, tags: {} }]);
      expect(await ledger.costs({ by: ['lane'] })).toMatchObject([
        { lane: 'realtime', calls: 6, unpriced: 2, paid: 2, estimate: 0, estimated: 0 },
        { lane: 'flex', calls: 1, unpriced: 0, paid: 0.5 },
      ]);
      expect(await ledger.costs({ by: ['tag'] })).toMatchObject([
        { tag: 'a=1', calls: 4 },
        { calls: 3 },
      ]);
      const [, unnamed] = await ledger.costs({ by: ['name'] });
      expect(unnamed).not.toHaveProperty('name');
      await expect(ledger.settled(987_654, [], [flex])).rejects.toMatchObject({
        code: 'OWNER_LOST',
      });
      expect(await ledger.costs({ by: [] })).toMatchObject([{ calls: 7 }]);
    });

    it('are those of the days asked for, in their order', async () => {
      const { ledger, me, clock } = await openBench(subject);
      for (const at of [1, 0, 2, 1]) {
        clock.time = at * day + day / 2;
        const labels = { provider: 'openai', model: 'gpt-5', lane: 'realtime', tags: {} } as const;
        await ledger.settled(me, [], [{ ...labels, costs: [{ ...cost, paid: at + 1 }] }]);
      }
      const days = async (query: Omit<CostQuery, 'by'> = {}) =>
        (await ledger.costs({ by: ['day'], ...query })).map((row) => [row.day, row.paid]);
      const [first, second, third] = ['1970-01-01', '1970-01-02', '1970-01-03'] as const;
      expect(await days()).toEqual([
        [first, 1],
        [second, 4],
        [third, 3],
      ]);
      expect(await days({ since: second })).toEqual([
        [second, 4],
        [third, 3],
      ]);
      expect(await days({ since: second, until: second })).toEqual([[second, 4]]);
      expect(await days({ since: '1970-01-04' })).toEqual([]);
      const models = await ledger.costs({ by: ['model', 'day'], until: second });
      expect(models).toMatchObject([
        { day: first, model: 'gpt-5' },
        { day: second, paid: 4 },
      ]);
    });

    it('outlive the answers and batches that they are made of', async () => {
      const { ledger, me, send } = await openBench(subject);
      const totals = async (of: Ledger = ledger) => of.costs({ by: ['model', 'lane'] });
      const { lease, requests } = await send([1, 2]);
      await ledger.collected(
        lease,
        requests.map((request) => ({ request, is: 'answer', answer: good, cost }) as const),
      );
      await ledger.ended(lease);
      const before = await totals();
      expect(before).toMatchObject([{ calls: 2, paid: 1, saved: 0.5 }]);
      await ledger.leave(me);
      await ledger.prune({ olderThan: -1, maxBytes: 0 });
      expect(await ledger.list()).toEqual([]);
      expect(await totals()).toEqual(before);
    });

    it('take labels of any length', async () => {
      const { ledger, me } = await openBench(subject);
      const long = (seed: number) =>
        Array.from({ length: 500 }, (_, n) => ((n * seed * 7_919) % 36 ** 2).toString(36)).join('');
      const tags = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`${n}`, long(n + 1)]));
      const spent = {
        provider: 'openai',
        model: long(3),
        lane: 'flex',
        tags,
        costs: [cost],
      } as const;
      await ledger.settled(me, [], [spent]);
      await ledger.settled(me, [], [spent]);
      expect(await ledger.costs({ by: ['tag'] })).toHaveLength(12);
      expect(await ledger.costs({ by: ['model'] })).toMatchObject([{ model: long(3), calls: 2 }]);
    });
  });
}
