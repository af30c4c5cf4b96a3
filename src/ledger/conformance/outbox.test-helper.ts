import { describe, expect, it } from 'vitest';
import { messageLife } from '../outbox.ts';
import { type LedgerSubject, openBench } from './subject.test-helper.ts';

const lease = 60_000;
const message = (id: string, target = 'target') => ({ id, target, body: `body of ${id}` });

export function outboxConformance(subject: LedgerSubject): void {
  describe('the outbox', () => {
    const open = async () => {
      const { ledger, clock, ...bench } = await openBench(subject);
      const take = async (target = 'target', limit = 10) => {
        const { messages, next } = await ledger.outbox.take(target, { lease, limit });
        const taken = messages.map(({ id, attempt }) => `${id} ${attempt}`).sort();
        return next === undefined ? { taken } : { taken, next };
      };
      return { ledger, outbox: ledger.outbox, clock, take, ...bench };
    };

    it('gives each message to one taker, for a while', async () => {
      const { outbox, clock, take } = await open();
      await outbox.add([message('a'), message('b')]);
      const both = await Promise.all([take(), take()]);
      expect(both.flatMap(({ taken }) => taken).sort()).toEqual(['a 1', 'b 1']);
      expect(await take()).toEqual({ taken: [], next: lease });
      clock.time += lease;
      expect((await take()).taken).toHaveLength(2);
    });

    it('counts the tries that were settled, not the takers that went away', async () => {
      const { outbox, clock, take } = await open();
      await outbox.add([message('a')]);
      for (let takers = 0; takers < 20; takers += 1) {
        expect(await take()).toEqual({ taken: ['a 1'], next: lease });
        clock.time += lease;
      }
      await outbox.settle('a', 5_000);
      clock.time += 5_000;
      expect((await take()).taken).toEqual(['a 2']);
    });

    it('hands over what it was given, to its target alone, and no more than is asked for', async () => {
      const { outbox, take } = await open();
      const one = { ...message('a'), body: '{"text":"Grüße, 世界 \\u0000"}' };
      await outbox.add([one, message('b', 'other')]);
      const { messages } = await outbox.take('target', { lease, limit: 5 });
      expect(messages).toEqual([{ ...one, attempt: 1 }]);
      await outbox.add([message('c', 'other')]);
      expect((await take('other', 1)).taken).toHaveLength(1);
    });

    it('knows a message for as long as it is kept, whatever became of it', async () => {
      const { outbox, clock, take } = await open();
      await outbox.add([message('sent'), message('again')]);
      await take();
      await outbox.settle('sent');
      await outbox.settle('again', 5_000);
      await outbox.add([message('sent'), message('again')]);
      expect(await take()).toEqual({ taken: [], next: 5_000 });
      clock.time += 5_000;
      expect((await take()).taken).toEqual(['again 2']);
      clock.time += messageLife;
      expect(await take()).toEqual({ taken: [] });
      await outbox.add([message('sent')]);
      expect((await take()).taken).toEqual(['sent 1']);
    });

    it('gets messages with the end that they tell of, or not at all', async () => {
      const { ledger, take, send, join, me } = await open();
      const { lease: held } = await send([1]);
      await ledger.ended(held, undefined, [message('ended')]);
      expect((await take()).taken).toEqual(['ended 1']);
      const lost = await send([2]);
      await ledger.leave(me, { finished: false });
      await ledger.claim(await join(), lost.lease.batch);
      await expect(ledger.ended(lost.lease, undefined, [message('lost')])).rejects.toThrow();
      expect((await take()).taken).toEqual([]);
    });
  });
}
