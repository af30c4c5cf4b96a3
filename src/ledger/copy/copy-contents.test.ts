import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type Bench,
  bad,
  fingerprintOf,
  good,
  newToken,
  openBench,
} from '../conformance/subject.test-helper.ts';
import type { Ledger } from '../ledger.ts';
import { openReader, openWriter } from '../open-contents.ts';
import { openLedger } from '../open-ledger.ts';
import { usePostgres } from '../postgres/test/temporary.test-helper.ts';
import {
  killOwner,
  openTemporary,
  query,
  temporaryFolder,
} from '../sqlite/test/temporary.test-helper.ts';
import { copyContents } from './copy-contents.ts';

const { newStore, query: queryDatabase, schemaOf } = usePostgres();

const newFile = () => join(temporaryFolder(), 'ledger.db');
const answerTo = (request: number, answer = good) => ({ request, is: 'answer', answer }) as const;

/** A ledger with something of everything, whose owners were killed. */
async function filledFile(): Promise<{ path: string; bench: Bench }> {
  const path = newFile();
  const bench = await openBench(
    { name: '', open: (given) => openTemporary({ ...given, path }), kill: { skip: 'not needed' } },
    { keep: 'all' },
  );
  const { ledger, me, queue, ask, send, settle, join } = bench;
  await settle(1, { ...good, body: 'zero \0 and 🐎' });
  await settle(2, bad);
  const { request } = await ask(3);
  await ledger.spool([{ request, body: 'a prompt with \0' }]);
  const cost = { inputTokens: 3, outputTokens: 5, paid: 0.25, saved: 0.25 };
  const over = await send([4, 5]);
  await ledger.collected(
    over.lease,
    over.requests.map((one) => ({ ...answerTo(one), cost })),
  );
  await ledger.ended(over.lease);
  // Answers that the rows of their requests do not name yet.
  const open = await send([6, 7, 8]);
  await ledger.polled([{ lease: open.lease, remote: { id: 'remote', raw: 'running' } }]);
  await ledger.collected(open.lease, [answerTo(open.requests[1] as number)], 'cursor');
  const planned = await ask(9);
  const named = { name: 'night', tags: { team: 'paint' }, estimate: 0.5 };
  await ledger.plan(me, { token: newToken(), queue, ...named }, [planned.request]);
  await ledger.spend(me, 0.125);
  await ledger.outbox.add([{ id: 'news', target: 'target', body: '{}' }]);
  await ledger.learn(1, 'gpt-5', { tokens: 3_000_000_000, named: true });
  const other = await join();
  const finished = await join();
  await settle(11, good, finished);
  await ledger.leave(finished);
  // A second generation.
  await ask(11, { owner: other, cache: false });
  for (const _ of [1, 2, 3]) await ask(10, { owner: other, occurrence: 'next' });
  for (const owner of [me, other]) await killOwner(ledger, owner);
  return { path, bench };
}

/** All that can be seen of a ledger. */
async function seenOf(ledger: Ledger) {
  const batches = await ledger.list();
  const members = await Promise.all(
    batches.map(({ token }) => ledger.members(token, { limit: 100 })),
  );
  // The file has not entered the answer to 7 yet, so that it lets others wait until it is.
  const asks = [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12].flatMap((number) =>
    [true, false].flatMap((cache) =>
      [0, 1, 2].map((occurrence) => ({
        fingerprint: fingerprintOf(number),
        occurrence,
        queue: 1,
        cache,
      })),
    ),
  );
  const everything = Array.from({ length: 30 }, (_, id) => id);
  return {
    salt: Buffer.from(ledger.salt).toString('hex'),
    batches,
    members: members.map((page) =>
      page.members.map((member) => ({
        ...member,
        fingerprint: Buffer.from(member.fingerprint).toString('hex'),
      })),
    ),
    open: (await ledger.unfinished()).map((batch) => ({
      ...batch,
      account: { ...batch.account, hash: Buffer.from(batch.account.hash).toString('hex') },
    })),
    looks: await ledger.look('another run', asks),
    bodies: await ledger.bodies(everything),
    messages: (await ledger.outbox.take('target', { lease: 0, limit: 9 })).messages.map(
      ({ id, body }) => ({ id, body }),
    ),
    limit: (await ledger.limit(1, 'gpt-5'))?.tokens,
    costs: await ledger.costs({ by: ['day', 'model', 'lane', 'name', 'tag'] }),
    average: await ledger.averageOutput({
      provider: 'openai',
      endpoint: '/v1/chat/completions',
      model: 'gpt-4o-mini',
    }),
  };
}

async function seenAt(store: string) {
  const ledger = await openLedger(store);
  try {
    return await seenOf(ledger);
  } finally {
    await ledger.close();
  }
}

async function move(from: string, to: string) {
  const reader = await openReader(from);
  if (!reader) throw new Error('There is no ledger');
  try {
    const writer = await openWriter(to);
    try {
      return await copyContents(reader, writer, () => {});
    } finally {
      await writer.close();
    }
  } finally {
    await reader.close();
  }
}

describe('a ledger that is moved', () => {
  it('from a file to a database, to another one, and to a file again shows the same', async () => {
    const { path } = await filledFile();
    const expected = await seenAt(path);
    const [one, two, file] = [newStore(), newStore(), newFile()];
    expect(await move(path, one)).toEqual({ batches: 3, open: 2, requests: 14, answers: 6 });
    expect(await seenAt(one)).toEqual(expected);
    await move(one, two);
    await move(two, file);
    expect(await seenAt(file)).toEqual(expected);
    const again = newFile();
    await move(path, again);
    expect(await seenAt(again)).toEqual(expected);
  });

  it.each(['a file', 'a database'])(
    'to %s gives out new ids, and its batches can be claimed',
    async (kind) => {
      const { path, bench } = await filledFile();
      const store = kind === 'a file' ? newFile() : newStore();
      await move(path, store);
      const ledger = await openLedger(store);
      try {
        const before = Math.max(...(await bench.ledger.unfinished()).map(({ id }) => id));
        const me = await ledger.join({ run: 'new', host: 'there', pid: 2 });
        const claimable = await ledger.claimable();
        expect(claimable).toHaveLength(2);
        const claimed = await ledger.claim(me, claimable[0] as number);
        expect(claimed).toMatchObject({
          state: 'accepted',
          cursor: 'cursor',
          handle: { fileId: 'file-1' },
        });
        expect(claimed?.members.map(({ settled }) => settled)).toEqual([false, true, false]);
        const asks = [20, 3].map((number) => ({
          fingerprint: fingerprintOf(number),
          occurrence: 0,
          queue: bench.queue,
          cache: true,
        }));
        const [fresh, taken] = await ledger.admit(me, asks);
        expect(fresh).toMatchObject({ is: 'mine', request: expect.any(Number) });
        expect(taken).toMatchObject({ is: 'mine' });
        const lease = await ledger.plan(me, { token: newToken(), queue: bench.queue, tags: {} }, [
          fresh?.request as number,
        ]);
        expect(lease.batch).toBeGreaterThan(before);
      } finally {
        await ledger.close();
      }
    },
  );

  it('leaves out a plan that was not finished, and requests that are being dropped', async () => {
    const { path } = await filledFile();
    // As a process leaves them that was killed in the middle of a plan, and of a prune.
    await query(path, "UPDATE batch SET state = 0 WHERE name = 'night' RETURNING id");
    await query(path, 'DELETE FROM identity_new WHERE request = 1 RETURNING request');
    await query(path, 'DELETE FROM identity WHERE request = 1 RETURNING request');
    const store = newStore();
    expect(await move(path, store)).toMatchObject({ batches: 2, open: 1, requests: 13 });
    const rows = await queryDatabase(
      `SELECT state, batch, seq FROM ${schemaOf(store)}.request WHERE fp = '\\x${Buffer.from(fingerprintOf(9)).toString('hex')}'`,
    );
    expect(rows).toEqual([{ state: 0, batch: null, seq: null }]);
  });

  it('is refused while an owner is here', async () => {
    const { path, bench } = await filledFile();
    await bench.join();
    await expect(move(path, newStore())).rejects.toThrow(/process 1 on here works with it/);
    const store = newStore();
    const ledger = await openLedger(store);
    await ledger.join({ run: 'run', host: 'there', pid: 7 });
    await expect(move(store, newFile())).rejects.toThrow(/process 7 on there works with it/);
    await ledger.close();
  });

  it('leaves nothing behind when it is interrupted, and can begin again', async () => {
    const { path } = await filledFile();
    const expected = await seenAt(path);
    for (const store of [newFile(), newStore()]) {
      const reader = await openReader(path);
      const writer = await openWriter(store);
      const interrupted = { ...writer, finish: () => Promise.reject(new Error('interrupted')) };
      await expect(copyContents(reader as never, interrupted, () => {})).rejects.toThrow(
        'interrupted',
      );
      await Promise.all([writer.close(), reader?.close()]);
      expect((await seenAt(store)).batches).toEqual([]);
      await move(path, store);
      expect(await seenAt(store)).toEqual(expected);
      await expect(move(path, store)).rejects.toThrow(/is not empty/);
    }
  });

  it('is read page by page, also where texts are large', async () => {
    const path = newFile();
    const bench = await openBench({
      name: '',
      open: () => openTemporary({ path }),
      kill: { skip: '' },
    });
    const numbers = Array.from({ length: 2_500 }, (_, number) => number);
    const { lease, requests } = await bench.send(numbers);
    const large = 'x'.repeat(1_500_000);
    const settlements = requests.map((request, index) =>
      answerTo(request, { ...good, body: index < 9 ? `${index}${large}` : `${index}` }),
    );
    await bench.ledger.collected(lease, settlements);
    await bench.ledger.ended(lease);
    await killOwner(bench.ledger, bench.me);
    const store = newStore();
    const file = newFile();
    await move(path, store);
    await move(store, file);
    const reader = await openReader(file);
    const sizes: number[] = [];
    for await (const page of reader?.requests() ?? []) {
      sizes.push(page.length);
      for (const { id, answer } of page) {
        expect(answer?.body.replace(large, '')).toBe(String(requests.indexOf(id)));
      }
    }
    await reader?.close();
    expect(sizes).toEqual([3, 3, 3, 991, 1_000, 500]);
  });
});
