import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../../src/base/types.ts';
import { nextTurn } from '../../src/concurrency/event-loop.ts';
import {
  type Bench,
  type LedgerSubject,
  openBench,
  settleWithCosts,
} from '../../src/ledger/conformance/subject.test-helper.ts';
import { search } from '../../src/ui/api/search.ts';
import { PageServer } from '../../src/ui/page-server.ts';
import { hostileContent, hostileDepth, hostileError, hostileRole } from './hostile-answers.ts';

const token = { 'x-batchling-token': 'the-token' };
/** The page stays on one day, also at midnight. */
const now = Date.now();

/** The share of the processor's time that the longest work between two turns of the event loop takes, on any machine. */
function longestStretch() {
  let isOver = false;
  let longest = 0;
  const used = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  };
  const watch = async () => {
    const start = used();
    let before = start;
    while (!isOver) {
      await nextTurn();
      const now = used();
      longest = Math.max(longest, now - before);
      before = now;
    }
    return longest / (before - start);
  };
  const watched = watch();
  return {
    end() {
      isOver = true;
      return watched;
    },
  };
}

/** What the server of the page answers, on a ledger of any kind. */
export function pageApi(subject: LedgerSubject): void {
  let bench: Bench;
  let server: PageServer;
  const acted: string[] = [];

  beforeEach(async () => {
    bench = await openBench(subject, { keep: 'all' });
    acted.length = 0;
    const act = async (text: string) => {
      acted.push(text);
      return { text, failed: false };
    };
    server = await PageServer.start({
      ...{ port: 0, host: '127.0.0.1', token: 'the-token', store: 'a ledger' },
      now: () => now,
      ledger: async () => bench.ledger,
      actions: { cancel: (id) => act(`cancel ${id}`), collect: () => act('collect') },
    });
  });
  afterEach(() => server.close());

  const ask = async (path: string, method = 'GET') => {
    const response = await fetch(`${server.url}api/${path}`, { method, headers: token });
    const json = (await response.json()) as Record<string, never>;
    return { status: response.status, json };
  };
  const read = async (path: string) => {
    const { status, json } = await ask(path);
    expect(status, `${path}: ${JSON.stringify(json).slice(0, 300)}`).toBe(200);
    return json;
  };
  const answered = async (answers: readonly Answer[]) => {
    const { lease, requests } = await bench.send(answers.map((_, index) => index + 1));
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'How "far" is it?' }] });
    await bench.ledger.spool(requests.map((request) => ({ request, body })));
    await bench.ledger.collected(
      lease,
      requests.map((request, index) => ({
        ...{ request, is: 'answer' },
        answer: answers[index] as Answer,
      })),
    );
    const [batch] = await bench.ledger.list();
    return { id: batch?.token as string, requests };
  };
  const good = (body: string): Answer => ({ status: 200, headers: {}, body });

  describe('the page', () => {
    it('reads what is in the ledger', async () => {
      const far = JSON.stringify({ choices: [{ message: { content: 'Nine miles.' } }] });
      const { id, requests } = await answered([good(far)]);
      await bench.ask(9);
      expect(await read('now')).toMatchObject({
        queues: [{ waiting: 1, batches: [{ id }] }],
        isMore: false,
        hasOlder: false,
      });
      expect(await read('batches?model=gpt-4o-mini')).toMatchObject({ batches: [{ id }] });
      expect(await read(`batches/${id}`)).toMatchObject({ members: { answered: 1, waiting: 0 } });
      expect(await read(`batches/${id}/members`)).toMatchObject({
        members: [{ asked: 'How "far" is it?', excerpt: 'Nine miles.' }],
      });
      expect(await read(`requests/${requests[0]}`)).toMatchObject({ answer: { text: far } });
      expect(await read('search?q=nine')).toMatchObject({ found: [{ where: 'answer' }] });
      expect(await read('failures')).toMatchObject({ groups: [] });
      expect(await read('money')).toMatchObject({ rows: [] });
      expect(await read('models')).toHaveLength(1);
      const { version } = await read('changed');
      await bench.send([20]);
      await expect.poll(async () => (await read('changed')).version).not.toBe(version);
    });

    it('has first what ended last, however long ago it was made', async () => {
      const slow = await bench.send([1]);
      for (let quick = 2; quick < 9; quick += 1) {
        bench.clock.time += 1_000;
        await bench.ledger.ended((await bench.send([quick])).lease);
      }
      bench.clock.time += 1_000;
      await bench.ledger.ended(slow.lease);
      const all = await bench.ledger.list();
      const [oldest] = [...all].sort((one, other) => one.createdAt - other.createdAt);
      const { recent = [] } = await read('now');
      expect(recent).toHaveLength(6);
      expect(recent[0]).toMatchObject({ id: oldest?.token });
    });

    it('says so where more batches are open than it shows', async () => {
      await Promise.all(Array.from({ length: 501 }, (_, batch) => bench.send([batch])));
      const { queues, hasOlder } = await read('now');
      expect(hasOlder).toBe(true);
      expect(queues).toMatchObject([{ batches: { length: 500 } }]);
    });

    it('reads answers that were made to break their readers, and those beside them', async () => {
      const hostile = [hostileDepth, hostileContent, hostileRole].map(good);
      const failed = { status: 400, headers: {}, body: hostileError };
      const { id, requests } = await answered([...hostile, failed, good('"fine"')]);
      const { members } = await read(`batches/${id}/members`);
      expect(members).toHaveLength(5);
      expect((members ?? []).at(-1)).toMatchObject({ excerpt: '"fine"' });
      for (const request of requests) await read(`requests/${request}`);
      expect((await read('search?q="f')).looked).toBe(5);
      expect((await read('failures')).groups).toHaveLength(1);
    });

    it('shows the sums of `batchling cost`, with its words for what has no name', async () => {
      bench.clock.time = Date.now();
      await settleWithCosts(bench);
      const { lease, requests } = await bench.send([1]);
      const tokens = { inputTokens: 70, outputTokens: 9, cacheReadTokens: 5, cacheWriteTokens: 40 };
      const cost = { ...tokens, paid: 0.5, saved: 0.5 };
      await bench.ledger.collected(
        lease,
        requests.map((request) => ({ request, is: 'answer', answer: good('{}'), cost })),
      );
      await bench.ledger.ended(lease);
      const { rows, total } = await read('money?by=name');
      expect(total).toMatchObject({ paid: 1.5, cacheReadTokens: 5, cacheWriteTokens: 40 });
      expect(rows).toMatchObject([{ label: 'nightly' }, { label: '(no name)' }]);
    });

    it('begins on the day on which `batchling cost --since` begins', async () => {
      bench.clock.time = now - 30 * 86_400_000;
      await settleWithCosts(bench);
      const since = new Date(bench.clock.time).toISOString().slice(0, 10);
      expect(await read('money?days=30')).toMatchObject({ since, total: { paid: 1 } });
      expect(await read('money?days=29')).toMatchObject({ rows: [] });
    });

    it('looks through large texts without holding up the program that serves it', async () => {
      const large = JSON.stringify({
        messages: [{ role: 'user', content: 'word '.repeat(58_000) }],
      });
      const { requests } = await bench.send(Array.from({ length: 200 }, (_, index) => index));
      await bench.ledger.spool(requests.map((request) => ({ request, body: large })));
      const stretch = longestStretch();
      const { looked } = await search(
        bench.ledger,
        new URLSearchParams({ q: 'word absent?' }),
        60_000,
      );
      expect(looked).toBe(200);
      expect(await stretch.end()).toBeLessThan(1 / 3);
    });

    it('says what is wrong with a question that it cannot answer', async () => {
      const { id } = await answered([good('{}')]);
      const wrong = [
        ...['money?by=constructor', 'money?by=__proto__', 'money?by=', 'money?days=many'],
        ...['batches?state=toString', 'batches?before=x', 'batches/%ff', 'batches/%c3%28/members'],
      ];
      for (const path of wrong) expect((await ask(path)).status, path).toBe(400);
      const missing = [
        ...['batches/bl_xx', 'batches/bl_xx/members', `batches/${id}/nothing`, 'requests/99'],
        ...[`batches/${id}/members/1`, 'requests/%2e%2e%20', 'now/1', 'nothing', 'constructor'],
      ];
      for (const path of missing) expect((await ask(path)).status, path).toBe(404);
      expect(JSON.stringify((await ask('batches/%ff')).json)).toContain('escape');
    });

    it('cancels the batch whose whole id stands in the path of a cancel, and nothing else', async () => {
      const { id } = await answered([]);
      const paths = [
        ...['requests/1/cancel', `requests/${id}/cancel`, `batches/${id.slice(0, -1)}/cancel`],
        ...['batches/bl_xx/cancel', 'batches//cancel', `batches/${id}/cancel/now`, 'collect/1'],
        ...[`x/${id}/cancel`, `batches/${id}/collect`],
      ];
      for (const path of paths) {
        expect((await ask(path, 'POST')).status, path).toBeGreaterThanOrEqual(400);
        expect((await ask(path, 'POST')).status, path).toBeLessThan(500);
      }
      expect(acted).toEqual([]);
      await ask(`batches/${id}/cancel`, 'POST');
      await ask('collect', 'POST');
      expect(acted).toEqual([`cancel ${id}`, 'collect']);
    });
  });
}
