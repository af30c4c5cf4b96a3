import { defineConfig } from 'vitest/config';

/** Unit tests that patch globals, start processes, or look at what has been loaded. */
const needTheirOwnProcess = [
  'src/*.test.ts',
  'src/scope/**',
  'src/options/index.test.ts',
  'src/hooks/**',
  'src/http/{client,connections,decode-loading,exchange,reply}.test.ts',
  'src/ledger/ledgers-agree.test.ts',
  'src/ledger/sqlite/connection/checkpoints.test.ts',
  'src/ledger/sqlite/answers/new-answers.test.ts',
  'src/ledger/sqlite/owners/owner-death.test.ts',
  'src/orchestrator/capture/intake.test.ts',
];

const shared = {
  pool: 'forks',
  env: { BATCHLING_DISPLAY: 'none' },
  // A test waits for what it expects, not for a time: these only end one that hangs.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { interval: 5, timeout: 60_000 } },
} as const;

export default defineConfig({
  test: {
    // Vitest leaves one core free, which on two cores is half of the machine.
    maxWorkers: '100%',
    projects: [
      {
        // Half of the time of a small file is a process with its imports: these share theirs.
        test: {
          ...shared,
          name: 'together',
          include: ['src/**/*.test.ts'],
          exclude: needTheirOwnProcess,
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: 'apart',
          include: ['test/**/*.test.ts', ...needTheirOwnProcess.map(asTests)],
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

function asTests(pattern: string): string {
  return pattern.endsWith('/**') ? `${pattern}/*.test.ts` : pattern;
}
