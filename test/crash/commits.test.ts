import { expect, it } from 'vitest';
import { killAtEveryCommit } from './enumerate.ts';
import { plotsOf } from './plots.ts';

const nothingWrong = { billedTwice: 0, lost: 0, wrong: 0, complaints: [] };

it.each(['openai', 'anthropic'] as const)(
  'a program killed around any of its commits ends well when it runs again: %s',
  async (provider) => {
    const [, crowded] = plotsOf(provider);
    if (crowded === undefined) throw new Error('There is no such plot');
    const verdict = await killAtEveryCommit(crowded, ['after']);
    expect(verdict).toMatchObject(nothingWrong);
    // Joined, admitted, planned, staged, creating, accepted, answered, ended, left: one each at least.
    expect(verdict.kills).toBeGreaterThan(9);
  },
  120_000,
);
