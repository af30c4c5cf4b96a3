import { describe, expect, it } from 'vitest';
import { batchMoves, checkMove, isOpen } from './batch-moves.ts';
import type { BatchState } from './ledger.ts';

const states = Object.keys(batchMoves) as BatchState[];
const pairs = states.flatMap((from) => states.map((to) => ({ from, to })));

describe('the moves of a batch', () => {
  it.each(pairs)('$from to $to is allowed or an error that names both', ({ from, to }) => {
    const move = () => checkMove({ id: 7, token: 'bt-7', state: from }, to);
    if (batchMoves[from].includes(to)) expect(move).not.toThrow();
    else expect(move).toThrow(new RegExp(`bt-7 \\(7\\).*"${from}".*"${to}"`));
  });

  it('never lead from accepted back to a state in which it could be created again', () => {
    expect(batchMoves.accepted).toEqual(['ended', 'refused']);
  });

  it('end in three states', () => {
    expect(states.filter((state) => !isOpen(state))).toEqual(['ended', 'refused', 'released']);
  });
});
