import { afterEach, expect, it, vi } from 'vitest';
import { processCalls } from './process-calls.ts';

afterEach(() => {
  vi.doUnmock('../base/version.ts');
  vi.resetModules();
});

async function callsOfCopy() {
  vi.resetModules();
  const copy = await import('./process-calls.ts');
  expect(copy.ProcessCalls).not.toBe(processCalls().constructor);
  return copy.processCalls();
}

it('the calls of a process are shared by copies of one version of the package, and by no other', async () => {
  expect(await callsOfCopy()).toBe(processCalls());
  vi.doMock('../base/version.ts', () => ({ version: '99.0.0' }));
  expect(await callsOfCopy()).not.toBe(processCalls());
});
