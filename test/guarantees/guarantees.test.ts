import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Fate, FaultCase } from './fault-case.ts';
import { faultCases } from './faults.ts';
import { writeFindings } from './findings.ts';
import { play } from './play.ts';
import { cellsOf, type Finding, keyOf, readTable } from './table.ts';

const page = readFileSync(new URL('../../docs/guarantees.md', import.meta.url), 'utf8');
const told = readTable(page);
const findings: Finding[] = [];
const pairs = faultCases.flatMap((faultCase) =>
  faultCase.providers.map((provider) => ({ faultCase, provider })),
);

// Loading modules takes real time, in which a clock that leaps would leap: all are loaded first.
beforeAll(async () => {
  const [faultCase] = faultCases.filter(({ providers }) => providers.length > 1);
  for (const provider of faultCase?.providers ?? []) {
    await play({ ...(faultCase as FaultCase), arrange: () => undefined }, provider);
  }
});
// Pauses vary by chance, so that many clients do not come at once. Here each run is to be the same.
beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => {
  if (findings.length === pairs.length) writeFindings(findings);
});

describe('every caller gets an outcome, and nothing is paid for twice without need', () => {
  for (const { faultCase, provider } of pairs) {
    const { fault } = faultCase;
    it(`${provider}, ${fault}`, async () => {
      findings.push({ fault, provider });
      const played = await play(faultCase, provider);
      const { fates, sentAgain, simulator } = played;
      expect(fates).toEqual(expectedFates(faultCase.fates, fates.length));
      if (typeof faultCase.sentAgain === 'number') expect(sentAgain).toBe(faultCase.sentAgain);
      else expect(sentAgain).toBeLessThanOrEqual(faultCase.sentAgain.atMost);
      if (!faultCase.isLane) expect(simulator.meter.realtime).toBe(0);
      expect(played.leaks).toEqual([]);
      faultCase.check?.(played);
      const cells = cellsOf(fates, sentAgain);
      findings[findings.length - 1] = { fault, provider, cells };
      expect(
        told.get(keyOf(fault, provider)),
        'docs/guarantees.md says otherwise: run scripts/guarantees-doc.ts',
      ).toEqual(cells);
    });
  }
});

it('docs/guarantees.md tells every fault, and no other', () => {
  const known = pairs.map(({ faultCase, provider }) => keyOf(faultCase.fault, provider));
  expect(new Set(known).size).toBe(known.length);
  expect([...told.keys()].sort()).toEqual([...known].sort());
});

function expectedFates(fates: Fate | readonly Fate[], count: number): readonly Fate[] {
  return 'outcome' in fates ? Array.from({ length: count }, () => fates) : fates;
}
