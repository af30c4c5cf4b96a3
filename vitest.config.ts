import { rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/vitest/longest-first.ts';

/** For the ledgers of programs that name none: tests leave the user's own alone. */
const cacheFolder = join(tmpdir(), `batchling-test-cache-${process.pid}`);
process.once('exit', () => rmSync(cacheFolder, { recursive: true, force: true }));

/** Unit tests that patch globals, start processes, or look at what has been loaded. */
const unitTests = [
  'src/base/*.test.ts',
  'src/cli/done/**',
  'src/concurrency/event-loop.test.ts',
  'src/scope/**',
  'src/options/index.test.ts',
  'src/hooks/**',
  'src/http/{client,connections,credentials,decode-loading,exchange,reply}.test.ts',
  'src/ledger/ledgers-agree.test.ts',
  'src/ledger/sqlite/connection/checkpoints.test.ts',
  'src/ledger/sqlite/answers/new-answers.test.ts',
  'src/ledger/sqlite/owners/owner-death.test.ts',
  'src/orchestrator/capture/intake.test.ts',
];

const needTheirOwnProcess = [
  ...unitTests,
  // A tracer is one for the process.
  'test/otel/**',
  'src/gateway/hints/google-keys.test.ts',
  // They look at what is patched, or patch it themselves.
  'test/fidelity/**',
  'test/behaviour/*/{core,hooks-undone,later-patchers,mocks,patches,two-copies,without-hooks}.test.ts',
  // They look for the files that the process has open.
  'test/behaviour/*/{batch-lives,lost-leases}.test.ts',
  // They hear warnings, many of which a process is given once.
  'test/behaviour/*/{closed-scopes,full-price,long-realtime-line,no-batch-api}.test.ts',
  'test/behaviour/*/{nothing-more-is-spent,query-credentials}.test.ts',
  'test/misuse/{never-entered,scopes}.test.ts',
  // They hear what the process writes to stderr, whoever writes it.
  'test/behaviour/*/{display,resume-speaks,small-batches,troubles,what-is-stored}.test.ts',
  'test/providers/mixed.test.ts',
  'test/third-party/frameworks/langchain-batch.test.ts',
  // Their client listens for signals and errors of the whole process.
  'test/third-party/*/{openai-agents,simulator-answers}.test.ts',
  'test/behaviour/display/many-examples.test.ts',
  'test/providers/bedrock/bedrock.test.ts',
  // They change the time of the whole process.
  'test/behaviour/*/{clock-set-back,dates-after-set-back}.test.ts',
  // They wait until the whole process is at rest.
  'test/behaviour/*/{not-found-series,redirected-reads,slow-batches,three-lanes}.test.ts',
  'test/crash/{budget-after-kill,taken-over}.test.ts',
  'test/durability/marks.test.ts',
  'test/guarantees/**',
  'test/property/{found,lanes,no-starvation,program,verdict}.test.ts',
  'test/providers/*/{anthropic-batches,mistral-recovery,vertex-batches,vertex-recovery}.test.ts',
  // They measure the process.
  'test/memory/**',
  'test/property/memory.test.ts',
];

/** Left out where a system cannot do what they need. Neither system was ever tried. */
const leftOut: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  win32: [
    // Windows has no SIGINT, SIGTERM or SIGSTOP that a program could be sent.
    'test/cli/leaving/{leaving-interrupts,run-signals,run-detach}.test.ts',
    'test/crash/**',
    'test/gateway/leaving.test.ts',
    // They start shells, scripts and terminals of Unix.
    'test/cli/{display,exec-vitest,run-in-terminal}.test.ts',
    'test/docs/{newcomer,run}.test.ts',
    'test/cli/done/**',
    'src/cli/done/**',
    // The modes of files say nothing there.
    'test/behaviour/ledger/secrets.test.ts',
    'src/ledger/sqlite/connection/open-sqlite.test.ts',
    // A user without rights is made for the server, which needs root.
    '**/*postgres*.test.ts',
    'src/ledger/postgres/**',
  ],
  // The disk of a test is filled up through a mount of Linux.
  darwin: ['test/crash/bad-disks.test.ts'],
};

const excluded = leftOut[process.platform] ?? [];

const shared = {
  pool: 'forks',
  env: { BATCHLING_DISPLAY: 'none', XDG_CACHE_HOME: cacheFolder },
  // A test waits for what it expects, not for a time: these only end one that hangs.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { interval: 5, timeout: 60_000 } },
} as const;

export default defineConfig({
  test: {
    // A fifth of the time a test waits, for a disk or a window: one and a half per core keep it busy.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        // A process with its imports takes longer than most files: these share theirs.
        test: {
          ...shared,
          name: 'together',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...needTheirOwnProcess, ...excluded],
          isolate: false,
          setupFiles: ['test/support/vitest/share-process.ts'],
        },
      },
      {
        test: {
          ...shared,
          name: 'apart',
          include: needTheirOwnProcess.map(asTests),
          exclude: [...excluded],
        },
      },
    ],
  },
});

function asTests(pattern: string): string {
  return pattern.endsWith('/**') ? `${pattern}/*.test.ts` : pattern;
}
