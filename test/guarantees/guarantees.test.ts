import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Fate } from './fault-case.ts';
import { faultCases } from './faults.ts';
import { play } from './play.ts';

// Pauses vary by chance, so that many clients do not come at once. Here each run is to be the same.
beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const pairs = faultCases.flatMap((faultCase) =>
  faultCase.providers.map((provider) => ({ faultCase, provider })),
);

describe('every caller gets an outcome, and nothing is paid for twice by our doing', () => {
  for (const { faultCase, provider } of pairs) {
    it(`${provider}, ${faultCase.fault}`, async () => {
      const played = await play(faultCase, provider);
      const { fates, sentAgain } = played;
      expect(fates).toEqual(expectedFates(faultCase.fates, fates.length));
      expect(sentAgain).toBe(faultCase.sentAgain);
      expect(played.simulator.meter.realtime).toBe(0);
      faultCase.check?.(played);
    });
  }
});

function expectedFates(fates: Fate | readonly Fate[], count: number): readonly Fate[] {
  return 'outcome' in fates ? Array.from({ length: count }, () => fates) : fates;
}
