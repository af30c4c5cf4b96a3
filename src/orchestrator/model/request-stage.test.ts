import { describe, expect, it } from 'vitest';
import { moveStage, type RequestStage, stageMoves } from './request-stage.ts';

const stages = Object.keys(stageMoves) as RequestStage[];
const pairs = stages.flatMap((from) => stages.map((to) => ({ from, to })));

describe('the stages of a request', () => {
  it.each(pairs)('$from to $to is allowed, or an error that names both', ({ from, to }) => {
    const move = () => moveStage(7, from, to);
    if (stageMoves[from].includes(to)) expect(move()).toBe(to);
    else expect(move).toThrow(new RegExp(`Request 7 cannot go from ${from} to ${to}`));
  });

  it('lead nowhere from the end', () => {
    expect(stageMoves.done).toEqual(['done']);
  });

  it('lead into a batch only by a plan, or by joining a batch of somebody else', () => {
    const before = stages.filter((stage) => stageMoves[stage].includes('planned'));
    expect(before).toEqual(['elsewhere', 'planning']);
  });

  it('do not let go of a request that is being planned', () => {
    expect(stageMoves.planning).not.toContain('done');
  });
});
