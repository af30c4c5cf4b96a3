import { describe, expect, it } from 'vitest';
import { LeaseLostError, OwnerLostError } from '../../../errors.ts';
import { good, newRun, openBench } from '../../conformance/subject.test-helper.ts';
import type { Ledger } from '../../ledger.ts';
import { usePostgres } from '../test/temporary.test-helper.ts';

const { open, kill, query, newStore, schemaOf } = usePostgres();
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

  it('has to have a minute left for a create; the owner is then lost, and its batch free', async () => {
    const store = newStore();
    const { ledger, me, queue, ask, join } = await openBench({
      ...subject,
      open: (options) => open({ ...options, store }),
    });
    const { request } = await ask(1);
    const lease = await ledger.plan(me, { token: 'late', queue, tags: {} }, [request]);
    await endsIn(store, me, 61);
    expect(await ledger.creating(lease, {}, { alone: false })).toBe(true);
    await endsIn(store, me, 59);
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

  it('hear of the outcomes of the other one', async () => {
    const [one, other] = await two();
    const bench = await openBench({ ...subject, open: async () => one });
    await other.join({ run: newRun(), host: 'there', pid: 2 });
    const before = await other.changed();
    await bench.settle(1);
    await expect.poll(() => other.changed()).not.toBe(before);
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
