import { expect, it } from 'vitest';
import { type BatchScript, checkScript } from './batch-script.ts';

it.each<BatchScript>([
  {},
  { outcome: 'failed', errors: [{ code: 'quota', message: 'no', line: null }] },
  { outcome: 'expired', completedFraction: 0 },
  { stuckIn: 'cancelling', unknownStatus: 'pondering', finalStatus: 'COMPLETED' },
  { lateFiles: Number.POSITIVE_INFINITY, resultsNotFoundReads: 3, forgotten: true },
])('takes %j', (script) => {
  expect(checkScript(script)).toBe(script);
});

it.each([
  [{ outcom: 'failed' }, "Unknown word 'outcom' in a batch script"],
  [{ outcome: 'exploded' }, `'outcome' of a batch script cannot be "exploded"`],
  [{ errors: [{ code: 'quota' }] }, "'errors' of a batch script cannot be"],
  [{ completedFraction: 2 }, "'completedFraction' of a batch script cannot be 2"],
  [{ lateFiles: -1 }, "'lateFiles' of a batch script cannot be -1"],
  [{ forgotten: 'yes' }, `'forgotten' of a batch script cannot be "yes"`],
])('refuses %j', (script, message) => {
  expect(() => checkScript(script as BatchScript)).toThrow(message);
});
