import type { Mutant } from './mutant.ts';

/** What commands do with the ledger, and how a program is told its options. */
export const commands: readonly Mutant[] = [
  {
    name: 'cancel frees the requests of a batch that may be at the provider',
    promise: 2,
    file: 'src/cli/store/cancelling.ts',
    search: "if (state === 'creating') {",
    replace: "if (state === 'accepted') {",
    tests: ['test/cli/ledger/ledger-cancel.test.ts'],
    only: 'may be at the provider',
  },
  {
    name: 'cancel --all does not wait for a yes',
    promise: 2,
    file: 'src/cli/commands/cancel.ts',
    search: 'if (!(await confirm(`Cancel ${what}?`, true))) return;',
    replace: 'await confirm(`Cancel ${what}?`, true);',
    tests: ['test/cli/ledger/ledger-cancel.test.ts'],
    only: 'asks at a terminal',
  },
  {
    name: 'prune --older-than --dry-run drops',
    promise: 2,
    file: 'src/cli/commands/prune.ts',
    search: 'olderThan: retention }),\n    dryRun,',
    replace: 'olderThan: retention }),\n    dryRun: false,',
    tests: ['test/cli/ledger/ledger-look.test.ts'],
    only: 'says what it would drop',
  },
  {
    name: 'a variable wins over --store',
    promise: 2,
    file: 'src/cli/store/open-store.ts',
    search: 'resolveOptions(store === undefined ?',
    replace: 'resolveOptions(store === undefined || process.env.BATCHLING_STORE ?',
    tests: ['test/cli/ledger/ledger-look.test.ts'],
    only: 'wins over the variable',
  },
  {
    name: 'a variable wins over a flag of run and exec',
    promise: 2,
    file: 'src/cli/launch/run-environment.ts',
    search: '...inherited,\n    ...given,',
    replace: '...given,\n    ...inherited,',
    tests: ['src/cli/launch/run-environment.test.ts'],
  },
];
