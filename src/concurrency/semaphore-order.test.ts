import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import fc from '../../test/support/fast-check.ts';
import { Semaphore } from './semaphore.ts';

/** Many who wait for one slot that is taken, and what became of them. */
async function longLine(count: number, signal: AbortSignal, limit = 1) {
  const slots = new Semaphore();
  await slots.acquire(limit);
  const told = { entered: 0, rejected: 0 };
  for (let waiter = 0; waiter < count; waiter += 1) {
    slots.acquire(limit, signal).then(
      () => {
        told.entered += 1;
        slots.release();
      },
      () => {
        told.rejected += 1;
      },
    );
  }
  return { slots, told };
}

it('one signal of thousands has one listener, and none when nobody waits', async () => {
  const { signal } = new AbortController();
  const { slots, told } = await longLine(1_000, signal);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  slots.release();
  while (told.entered < 1_000) await turn();
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

it('an abort tells everyone in turns, and nobody enters meanwhile', async () => {
  const stop = new AbortController();
  const { slots, told } = await longLine(1_000, stop.signal);
  stop.abort(new Error('stopped'));
  slots.release();
  await Promise.resolve();
  expect(told.rejected).toBeGreaterThan(0);
  let most = told.rejected;
  while (told.rejected < 1_000) {
    const before = told.rejected;
    await turn();
    most = Math.max(most, told.rejected - before);
  }
  expect(most).toBeLessThanOrEqual(100);
  expect(told.entered).toBe(0);
});

it('who has two signals leaves by the first abort, and the line stays whole', async () => {
  const slots = new Semaphore();
  await slots.acquire(1);
  const [mine, all] = [new AbortController(), new AbortController()];
  const both = slots.acquire(1, [mine.signal, all.signal]);
  const other = slots.acquire(1, mine.signal);
  const stays = slots.acquire(1);
  mine.abort('mine');
  all.abort('all');
  await expect(both).rejects.toBe('mine');
  await expect(other).rejects.toBe('mine');
  slots.release();
  await stays;
});

interface Asked {
  readonly name: number;
  readonly limit: number;
  readonly group: object | undefined;
}

/** The rule in so many words: everybody is looked at, each time. */
class PlainSemaphore {
  readonly entered: number[] = [];
  #taken = 0;
  #line: Asked[] = [];
  readonly #turns: (object | undefined)[] = [];

  ask(asked: Asked): void {
    this.#line.push(asked);
    this.#letIn();
  }

  giveUp(name: number): void {
    this.#line = this.#line.filter((asked) => asked.name !== name);
  }

  release(): void {
    this.#taken -= 1;
    this.#letIn();
  }

  #letIn(): void {
    const lastTurn = ({ group }: Asked) => (group ? this.#turns.lastIndexOf(group) : -1);
    for (;;) {
      const free = this.#line.filter(({ limit }) => this.#taken < limit);
      const [next] = free.sort((a, b) => lastTurn(a) - lastTurn(b) || a.name - b.name);
      if (next === undefined) return;
      this.giveUp(next.name);
      this.#taken += 1;
      this.#turns.push(next.group);
      this.entered.push(next.name);
    }
  }
}

const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('ask' as const),
      limit: fc.integer({ min: 1, max: 3 }),
      group: fc.nat({ max: 3 }),
    }),
    fc.record({ kind: fc.constant('release' as const) }),
    fc.record({ kind: fc.constant('give up' as const), who: fc.nat({ max: 60 }) }),
  ),
  { maxLength: 60 },
);

it('everyone enters in the order of the plain rule', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      const groups = [undefined, {}, {}, {}];
      const slots = new Semaphore();
      const plain = new PlainSemaphore();
      const entered: number[] = [];
      const waiting = new Map<number, AbortController>();
      let released = 0;
      for (const [name, step] of script.entries()) {
        if (step.kind === 'ask') {
          const stop = new AbortController();
          waiting.set(name, stop);
          const group = groups[step.group];
          const enter = () => {
            waiting.delete(name);
            entered.push(name);
          };
          slots.acquire(step.limit, stop.signal, group).then(enter, () => undefined);
          plain.ask({ name, limit: step.limit, group });
        } else if (step.kind === 'give up') {
          waiting.get(step.who)?.abort();
          if (waiting.delete(step.who)) plain.giveUp(step.who);
        } else if (released < entered.length) {
          released += 1;
          slots.release();
          plain.release();
        }
        await turn();
        expect(entered).toEqual(plain.entered);
      }
    }),
  );
});
