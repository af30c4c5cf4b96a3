import { afterAll, expect, vi } from 'vitest';
import { sharedState } from '../../../src/hooks/state.ts';
import { markProcessAsShared } from '../shared-process.ts';

// For files that share their process. Each is a run of its own, as a process would be: it counts its own
// occurrences, and meets no engine and no call of another file, which matters where the store is `:memory:`.
markProcessAsShared();
// Whichever undici is loaded first carries each `fetch` of the process: Node's own, here as in most programs, and not the
// package that some of the files import. The two differ in the headers that they accept.
void globalThis.Request;
const state = sharedState();
state.engines.clear();
state.dryRuns.clear();
state.calls.clear();
state.run = undefined;

// Libraries listen for the end of the process when they are loaded; these are heard by tests alone.
const heardByTests = ['warning', 'unhandledRejection', 'uncaughtException'] as const;
const before = look();

afterAll(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  expect(look(), 'what this file leaves to others in its process').toEqual(before);
});

function look() {
  return {
    variables: { ...process.env },
    folder: process.cwd(),
    listeners: heardByTests.map((name) => process.listenerCount(name)),
  };
}
