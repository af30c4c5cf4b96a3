import { describe, expect, it } from 'vitest';
import { OwnerLostError } from '../../base/errors.ts';
import type { OwnerId } from '../ledger.ts';
import {
  type Bench,
  expectStale,
  good,
  type LedgerSubject,
  newToken,
  openBench,
} from './subject.test-helper.ts';

/** Every method that is given an owner and needs it to be here. */
function callsOf({ ledger, queue, ask }: Bench, owner: OwnerId) {
  return {
    admit: () => ask(9, { owner }),
    'admit nothing': () => ledger.admit(owner, []),
    withdraw: () => ledger.withdraw(owner, []),
    plan: () => ledger.plan(owner, { token: newToken(), queue, tags: {} }, []),
    settled: () => ledger.settled(owner, []),
    claim: () => ledger.claim(owner, 1),
  };
}

export function lostOwnerConformance(subject: LedgerSubject): void {
  const { kill } = subject;
  const ways: [string, (bench: Bench) => Promise<OwnerId>][] = [
    ['never joined', async () => 987_654],
    [
      'has left',
      async ({ ledger, me }) => {
        await ledger.leave(me);
        return me;
      },
    ],
  ];
  if (typeof kill === 'function') {
    ways.push([
      'was killed',
      async ({ ledger, me }) => {
        await kill(ledger, me);
        return me;
      },
    ]);
  }

  describe.each(ways)('an owner that %s', (_way, lose) => {
    it('is lost to every method that needs it', async () => {
      const bench = await openBench(subject);
      await bench.send([1]);
      const owner = await lose(bench);
      for (const [name, call] of Object.entries(callsOf(bench, owner))) {
        const error = await call().then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expect(error, name).toBeInstanceOf(OwnerLostError);
        expect(error, name).toMatchObject({ code: 'OWNER_LOST', facts: { owner } });
      }
    });

    it('can leave all the same, and leave again', async () => {
      const bench = await openBench(subject);
      const owner = await lose(bench);
      await bench.ledger.leave(owner);
      await bench.ledger.leave(owner);
    });
  });

  describe.each(ways.slice(1))('an owner that %s and joins again', (_way, lose) => {
    it('has stale leases, though nobody has claimed its batches', async () => {
      const bench = await openBench(subject);
      const { ledger, send } = bench;
      const { lease, requests } = await send([1]);
      await lose(bench);
      await bench.join();
      await expectStale(ledger, lease, requests[0]!);
    });

    it('gets its requests by asking and its batches by claiming', async () => {
      const bench = await openBench(subject);
      const { ledger, ask, send, join } = bench;
      const { lease, requests } = await send([1]);
      const queued = await ask(2);
      await lose(bench);
      const again = await join();
      expect(await ask(2, { owner: again })).toMatchObject({ request: queued.request, is: 'mine' });
      const waits = await ask(1, { owner: again });
      expect(waits).toMatchObject({ request: requests[0], is: 'wait', batch: lease.batch });
      const claimed = await ledger.claim(again, lease.batch);
      expect(claimed?.lease).toEqual({ batch: lease.batch, owner: again, epoch: lease.epoch + 1 });
      await ledger.collected(claimed!.lease, [
        { request: requests[0]!, is: 'answer', answer: good },
      ]);
      await ledger.ended(claimed!.lease);
      expect(await ask(1, { owner: again })).toMatchObject({ is: 'answered', answer: good });
    });
  });
}
