import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { BodyRoom, type BodyShare } from './body-room.ts';

/** The bodies that have come in, in their order. */
async function enterAll(room: BodyRoom, sizes: readonly number[]): Promise<BodyShare[]> {
  const shares: BodyShare[] = [];
  for (const size of sizes) void room.enter(size).then((share) => shares.push(share));
  await nextTurn();
  return shares;
}

describe('the room for bodies', () => {
  it('lets in what fits; the others wait for their turn, the small ones, too', async () => {
    const room = new BodyRoom(10);
    const shares = await enterAll(room, [6, 4, 8, 1]);
    expect(shares).toHaveLength(2);
    shares[0]?.leave();
    await nextTurn();
    expect(shares).toHaveLength(2);
    shares[1]?.leave();
    await nextTurn();
    expect(shares).toHaveLength(4);
  });

  it('has no line for small bodies', async () => {
    const shares = await enterAll(new BodyRoom(10_000), [9_000, 9_000, 100]);
    expect(shares).toHaveLength(2);
  });

  it('is for a body alone that is larger', async () => {
    const room = new BodyRoom(10);
    const shares = await enterAll(room, [20, 20]);
    expect(shares).toHaveLength(1);
    shares[0]?.leave();
    await nextTurn();
    expect(shares).toHaveLength(2);
  });

  it('is given back once', async () => {
    const room = new BodyRoom(10);
    const shares = await enterAll(room, [5, 5]);
    shares[0]?.leave();
    shares[0]?.leave();
    expect(await enterAll(room, [5])).toHaveLength(1);
    expect(await enterAll(room, [5])).toHaveLength(0);
  });

  it('has none for a body that grows beyond it, unless that is alone', async () => {
    const room = new BodyRoom(10);
    const [growing, other] = await enterAll(room, [0, 0]);
    expect([growing?.grow(8), other?.grow(4), other?.grow(2)]).toEqual([true, false, true]);
    other?.leave();
    expect(growing?.grow(8)).toBe(true);
  });
});
