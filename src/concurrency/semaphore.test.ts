import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import fc from '../../test/support/fast-check.ts';
import { Semaphore } from './semaphore.ts';

/** Says whether the slot has been given, without waiting for it. */
function acquire(slots: Semaphore, limit: number) {
  const state = { given: false };
  void slots.acquire(limit).then(() => {
    state.given = true;
  });
  return state;
}

describe('slots of a semaphore', () => {
  it('are given up to the limit, and then in the order of asking', async () => {
    const slots = new Semaphore();
    const holders = Array.from({ length: 4 }, () => acquire(slots, 2));
    const given = async () => {
      await turn();
      return holders.map((holder) => holder.given);
    };
    expect(await given()).toEqual([true, true, false, false]);
    slots.release();
    expect(await given()).toEqual([true, true, true, false]);
    slots.release();
    expect(await given()).toEqual([true, true, true, true]);
  });

  it('are given to groups in turn', async () => {
    const slots = new Semaphore();
    const [much, little] = [{}, {}];
    const order: string[] = [];
    const ask = (name: string, group: object) =>
      slots.acquire(1, undefined, group).then(() => order.push(name));
    void ask('much 1', much);
    void ask('much 2', much);
    void ask('much 3', much);
    void ask('little', little);
    for (let release = 0; release < 4; release += 1) {
      await turn();
      slots.release();
    }
    expect(order).toEqual(['much 1', 'little', 'much 2', 'much 3']);
  });

  it('are not waited for after an abort', async () => {
    const slots = new Semaphore();
    await slots.acquire(1);
    const stop = new AbortController();
    const waiting = slots.acquire(1, stop.signal);
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    slots.release();
    await slots.acquire(1);
  });

  it('with room for one holder are not kept by another who may hold fewer', async () => {
    const slots = new Semaphore();
    acquire(slots, 1);
    const modest = acquire(slots, 1);
    const greedy = acquire(slots, 64);
    await turn();
    expect([modest.given, greedy.given]).toEqual([false, true]);
  });

  it('are never more than the limit and never fewer than they could be', async () => {
    const steps = fc.array(fc.constantFrom('acquire', 'release'), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), steps, async (limit, moves) => {
        const slots = new Semaphore();
        const holders: { given: boolean }[] = [];
        let released = 0;
        for (const move of moves) {
          const held = holders.filter(({ given }) => given).length - released;
          if (move === 'acquire') holders.push(acquire(slots, limit));
          else if (held > 0) {
            released += 1;
            slots.release();
          }
          await turn();
          const now = holders.filter(({ given }) => given).length - released;
          expect(now).toBe(Math.min(limit, holders.length - released));
        }
      }),
    );
  });
});
