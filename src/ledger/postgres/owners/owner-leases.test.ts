import { describe, expect, it } from 'vitest';
import { LeaseLostError, OwnerLostError } from '../../../base/errors.ts';
import { good, newRun, newToken, openBench } from '../../conformance/subject.test-helper.ts';
import type { Ledger } from '../../ledger.ts';
import { usePostgres } from '../test/temporary.test-helper.ts';

const { open, kill, query, newStore, schemaOf, hold } = usePostgres();
const subject = { name: 'the PostgreSQL ledger', open, kill };

/** Lets the lease of an owner end in so many seconds. */
async function endsIn(store: string, owner: number, seconds: number): Promise<void> {
  await query(
    `UPDATE ${schemaOf(store)}.owner
     SET lease_until = clock_timestamp() + interval '${seconds} seconds' WHERE id = ${owner}`,
  );
}

describe('the lease of an owner', () => {
  /** Seconds until the lease of an owner ends. */
  async function left(store: string, owner: number): Promise<number> {
    const rows = await query(
      `SELECT extract(epoch FROM lease_until - clock_timestamp())::float8 AS left
       FROM ${schemaOf(store)}.owner WHERE id = ${owner}`,
    );
    return rows[0]?.left as number;
  }

  it('is renewed for as long as its process lives; once over it is over', async () => {
    const store = newStore();
    // A statement may last for half of a lease, which is not enough to make a schema.
    await open({ store });
    const ledger = await open({ store, lease: 600 });
    const join = () => ledger.join({ run: newRun(), host: 'here', pid: 1 });
    const [lost, kept] = [await join(), await join()];
    await endsIn(store, lost, -1);
    // The heartbeat makes this one short.
    await endsIn(store, kept, 3_600);
    await expect.poll(() => left(store, kept)).toBeLessThan(60);
    expect(await left(store, lost)).toBeLessThan(0);
    await expect(ledger.admit(lost, [])).rejects.toThrow(OwnerLostError);
  });

  it('has to have half of it left for a create; the owner is then lost, and its batch free', async () => {
    const store = newStore();
    const { ledger, me, queue, ask, join } = await openBench({
      ...subject,
      // An hour: half a minute of it may pass between two statements, and no heartbeat comes.
      open: (options) => open({ ...options, store, lease: 3_600_000 }),
    });
    const { request } = await ask(1);
    const lease = await ledger.plan(me, { token: 'late', queue, tags: {} }, [request]);
    await endsIn(store, me, 1_830);
    expect(await ledger.creating(lease, {}, { alone: false })).toBe(true);
    await endsIn(store, me, 1_770);
    await expect(ledger.creating(lease, {}, { alone: false })).rejects.toThrow(LeaseLostError);
    await expect(ledger.admit(me, [])).rejects.toThrow(OwnerLostError);
    expect(await ledger.claim(await join(), lease.batch)).toMatchObject({ state: 'creating' });
  });
});

describe('two processes on one database', () => {
  async function two(): Promise<[Ledger, Ledger]> {
    const store = newStore();
    return Promise.all([open({ store }), open({ store })]);
  }

  it('make one ledger when they open it at the same time', async () => {
    const [one, other] = await two();
    expect(Buffer.from(one.salt)).toEqual(Buffer.from(other.salt));
  });

  it('hear of everything that may end a wait in the other one', async () => {
    const [one, other] = await two();
    const bench = await openBench({ ...subject, open: async () => one });
    const { me, queue, ask, send } = bench;
    await other.join({ run: newRun(), host: 'there', pid: 2 });
    const heard = async <T>(write: () => Promise<T>): Promise<T> => {
      const before = await other.changed();
      const result = await write();
      await expect.poll(() => other.changed()).not.toBe(before);
      return result;
    };
    const answered = (request: number) => [{ request, is: 'answer', answer: good }] as const;
    const [{ request: alone }, { request }] = [await ask(1), await ask(2)];
    await heard(() => one.settled(me, answered(alone)));
    const plan = { token: newToken(), queue, tags: {} };
    const planned = await heard(() => one.plan(me, plan, [request]));
    await heard(() => one.released(planned));
    await heard(() => one.withdraw(me, [request]));
    const { lease, requests } = await heard(() => send([3]));
    await heard(() => one.collected(lease, answered(requests[0]!)));
    await heard(() => one.giveBack(lease));
    await heard(() => one.claim(me, lease.batch));
    await heard(() => one.leave(me));
  });

  it('do not ask again for what is as it was', async () => {
    const [one, other] = await two();
    const bench = await openBench({ ...subject, open: async () => one });
    const { requests, lease } = await bench.send([1, 2]);
    const { request } = await bench.ask(3);
    const { batch } = lease;
    const members = requests.map((member) => ({ request: member, batch }));
    expect(await other.toAskAgain([{ request }, ...members])).toEqual([]);
    await one.collected(lease, [{ request: requests[1] as number, is: 'answer', answer: good }]);
    expect(await other.toAskAgain([{ request }, ...members])).toEqual([requests[1]]);
  });

  it('divide the requests that both ask for at once, and no request is given out twice', async () => {
    const [one, other] = await two();
    const bench = await openBench({ ...subject, open: async () => one });
    const stranger = await other.join({ run: newRun(), host: 'there', pid: 2 });
    const asks = Array.from({ length: 2_000 }, (_, number) => {
      const fingerprint = new Uint8Array(32);
      // Not in the order of the asks, so that a lock order of its own would show.
      new DataView(fingerprint.buffer).setUint32(0, (number * 7_919) % 2_000);
      return { fingerprint, occurrence: 0, queue: bench.queue, cache: true };
    });
    const [mine, theirs] = await Promise.all([
      one.admit(bench.me, asks),
      other.admit(stranger, [...asks].reverse()),
    ]);
    theirs.reverse();
    const winners = mine.map(({ is }, index) => [is, theirs[index]?.is].sort().join());
    expect(new Set(winners)).toEqual(new Set(['mine,wait']));
    expect(mine.map(({ request }) => request)).toEqual(theirs.map(({ request }) => request));
  });

  it('create alone, though both want to at the same time', async () => {
    const [one, other] = await two();
    const bench = await openBench({ ...subject, open: async () => one });
    const stranger = await other.join({ run: newRun(), host: 'there', pid: 2 });
    for (const number of [0, 2, 4, 6, 8]) {
      const { queue } = bench;
      const mine = await bench.ask(number);
      const theirs = await bench.ask(number + 1, { owner: stranger });
      const plans = await Promise.all([
        one.plan(bench.me, { token: `mine-${number}`, queue, tags: {} }, [mine.request]),
        other.plan(stranger, { token: `theirs-${number}`, queue, tags: {} }, [theirs.request]),
      ]);
      const alone = { alone: true };
      const created = await Promise.all([
        one.creating(plans[0], {}, alone),
        other.creating(plans[1], {}, alone),
      ]);
      expect(created.filter(Boolean)).toHaveLength(1);
      await Promise.all([one.released(plans[0]), other.released(plans[1])]);
    }
  });

  it('claim the batches of a killed owner, each batch once', async () => {
    const [one, other] = await two();
    const bench = await openBench({ ...subject, open: async () => one });
    const sent = [await bench.send([1]), await bench.send([2]), await bench.send([3])];
    const helper = await bench.join();
    const stranger = await other.join({ run: newRun(), host: 'there', pid: 2 });
    await kill(one, bench.me);
    const claims = sent.flatMap(({ lease }) => [
      one.claim(helper, lease.batch),
      other.claim(stranger, lease.batch),
    ]);
    const won = (await Promise.all(claims)).filter((claim) => claim !== undefined);
    expect(won.map(({ lease }) => lease.batch).sort()).toEqual(
      sent.map(({ lease }) => lease.batch),
    );
    const [{ lease }] = won as [(typeof won)[0]];
    const holder = lease.owner === helper ? one : other;
    const request = won[0]?.members[0]?.request as number;
    await holder.collected(lease, [{ request, is: 'answer', answer: good }]);
  });
});

describe('two processes that meet at a lock', () => {
  /** Both have an owner, in one run. */
  async function meet() {
    const store = newStore();
    const run = newRun();
    const benchOf = async () => {
      const bench = await openBench({ ...subject, open: (options) => open({ ...options, store }) });
      return { ...bench, owner: await bench.join(run) };
    };
    return { store, one: await benchOf(), other: await benchOf() };
  }

  it('do not both get a request of a dead owner', async () => {
    const { store, one, other } = await meet();
    await one.ask(1);
    await kill(one.ledger, one.me);
    const locks = await hold(store, 'SELECT 1 FROM request FOR UPDATE');
    const asked = [one.ask(1, { owner: one.owner }), other.ask(1, { owner: other.owner })];
    await locks.awaited(2);
    await locks.release();
    const got = (await Promise.all(asked)).map(({ is }) => is);
    expect(got.sort()).toEqual(['mine', 'wait']);
  });

  it.each(['plan', 'spend'] as const)('do not both %s what a budget has left', async (how) => {
    const { store, one, other } = await meet();
    await one.ledger.spend(one.owner, 4);
    const batch = async ({ queue, owner, ask }: typeof one, fingerprint: number) => {
      const { request } = await ask(fingerprint, { owner });
      return [{ token: newToken(), queue, tags: {}, estimate: 4, budget: 10 }, [request]] as const;
    };
    const batches = [await batch(one, 1), await batch(other, 2)] as const;
    const locks = await hold(
      store,
      'SELECT 1 FROM run_cost FOR UPDATE; LOCK TABLE batch IN SHARE MODE',
    );
    const paying = [one, other].map(({ ledger, owner }, index) =>
      how === 'plan' ? ledger.plan(owner, ...batches[index]!) : ledger.spend(owner, 4, 10),
    );
    const outcomes = Promise.allSettled(paying);
    await locks.awaited(2);
    await locks.release();
    const paid = (await outcomes).map(({ status }) => status);
    expect(paid.sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('do not claim a batch whose owner is about to write its answers', async () => {
    const { store, one, other } = await meet();
    const { lease, requests } = await one.send([1]);
    const locks = await hold(store, 'SELECT 1 FROM request FOR UPDATE');
    const collected = one.ledger.collected(lease, [
      { request: requests[0]!, is: 'answer', answer: good },
    ]);
    await locks.awaited(1);
    await kill(one.ledger, one.me);
    const claiming = other.ledger.claim(other.owner, lease.batch);
    await Promise.race([claiming, locks.awaited(2)]);
    await locks.release();
    await collected;
    expect((await claiming)?.members).toMatchObject([{ settled: true }]);
  });

  it('do not prune what the other one takes up', async () => {
    const { store, one, other } = await meet();
    const request = await one.settle(1);
    await one.ledger.leave(one.me);
    const locks = await hold(
      store,
      `UPDATE request SET owner = ${other.owner} WHERE id = ${request}`,
    );
    const pruning = one.ledger.prune({ olderThan: -1 });
    await Promise.race([pruning, locks.awaited(1)]);
    await locks.release();
    expect(await pruning).toMatchObject({ requests: 0 });
    expect(await other.ask(1, { owner: other.owner })).toMatchObject({ request, is: 'answered' });
  });
});
