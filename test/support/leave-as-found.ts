import { afterAll, expect, vi } from 'vitest';

/** Libraries listen for the end of the process when they are loaded; these are heard by tests alone. */
const heardByTests = ['warning', 'unhandledRejection', 'uncaughtException'] as const;

/** For files that share their process: each leaves it to the next one as it found it. */
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
