import { describe, expect, it } from 'vitest';
import type { Remote } from '../../batchers/batcher.ts';
import { type BatchPhase, type BatchPhaseName, movePhase, phaseMoves } from './batch-phase.ts';

const remote: Remote = { id: 'b', state: 'running', raw: 'x', readable: false, sources: {} };
const phases: Readonly<Record<BatchPhaseName, BatchPhase>> = {
  planned: { name: 'planned' },
  creating: { name: 'creating' },
  looking: { name: 'looking' },
  running: { name: 'running', remote, acceptedAt: 0 },
  collecting: { name: 'collecting', remote, acceptedAt: 0, isUnreadable: false },
  over: { name: 'over' },
};
const names = Object.keys(phaseMoves) as BatchPhaseName[];
const pairs = names.flatMap((from) => names.map((to) => ({ from, to })));

/** Every phase that can follow one, by any number of moves. */
function reachableFrom(name: BatchPhaseName): Set<BatchPhaseName> {
  const found = new Set<BatchPhaseName>();
  const look = (from: BatchPhaseName) => {
    for (const to of phaseMoves[from]) {
      if (found.has(to)) continue;
      found.add(to);
      look(to);
    }
  };
  look(name);
  return found;
}

describe('the phases of a batch', () => {
  it.each(pairs)('$from to $to is allowed, or an error that names both', ({ from, to }) => {
    const move = () => movePhase('bl_7', phases[from], phases[to]);
    if (phaseMoves[from].includes(to)) expect(move()).toBe(phases[to]);
    else expect(move).toThrow(new RegExp(`bl_7 cannot go from ${from} to ${to}`));
  });

  it('all lead to the end, from which none leads on', () => {
    for (const name of names) {
      if (name !== 'over') expect([...reachableFrom(name)]).toContain('over');
    }
    expect(phaseMoves.over).toEqual([]);
  });

  it.each(['running', 'collecting'] as const)(
    'never lead from %s back to one in which the batch could be created again',
    (name) => {
      const reachable = [...reachableFrom(name)];
      expect(reachable.sort()).toEqual(['collecting', 'over', 'running']);
    },
  );
});
