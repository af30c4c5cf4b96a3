import type { Command } from 'commander';

/** What the module of a command exports. */
export interface CommandModule {
  /** Adds the command's flags, arguments, examples and action. */
  define(command: Command): void;
  /** Rewrites the command's arguments before they are parsed. */
  prepare?(given: readonly string[]): string[];
}

export interface CommandEntry {
  readonly name: string;
  /** What the command does, in half a line. */
  readonly summary: string;
  /** Only the command that is called is loaded. */
  load(): Promise<CommandModule>;
}

/** All commands, in the order of the help. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'run',
    summary: 'run a TypeScript or JavaScript file, or one function of it, in batch mode',
    load: () => import('./commands/run.ts'),
  },
  {
    name: 'exec',
    summary: 'run any command; every Node process under it is in batch mode',
    load: () => import('./commands/exec.ts'),
  },
  {
    name: 'map',
    summary: 'a file of prompts in, a file of answers out',
    load: () => import('./commands/map.ts'),
  },
  {
    name: 'serve',
    summary: 'run a gateway: programs in any language set their base URL and are batched',
    load: () => import('./commands/serve.ts'),
  },
  {
    name: 'ui',
    summary: 'show the ledger in the browser: what runs, what failed, what it cost',
    load: () => import('./commands/ui.ts'),
  },
  {
    name: 'ls',
    summary: 'list the batches of the ledger, the newest last',
    load: () => import('./commands/ls.ts'),
  },
  {
    name: 'show',
    summary: 'show one batch: its facts, times, errors and requests',
    load: () => import('./commands/show.ts'),
  },
  {
    name: 'cost',
    summary: 'what was paid and saved: by day, model, provider, name or tag',
    load: () => import('./commands/cost.ts'),
  },
  {
    name: 'cancel',
    summary: 'cancel batches at their providers',
    load: () => import('./commands/cancel.ts'),
  },
  {
    name: 'collect',
    summary: 'fetch the answers of batches whose program has ended',
    load: () => import('./commands/collect.ts'),
  },
  {
    name: 'export',
    summary: 'write requests and answers of batches to a file',
    load: () => import('./commands/export.ts'),
  },
  {
    name: 'prune',
    summary: 'drop what is old from the ledger',
    load: () => import('./commands/prune.ts'),
  },
  {
    name: 'move',
    summary: 'copy the ledger to another store',
    load: () => import('./commands/move.ts'),
  },
  {
    name: 'doctor',
    summary: 'check versions, ledger, keys, clients, clock and proxies',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'demo',
    summary: 'ask a few questions through the bundled simulator: no API key, no cost',
    load: () => import('./commands/demo.ts'),
  },
  {
    name: 'simulate',
    summary: "run the simulator: a local server that plays the providers' batch APIs",
    load: () => import('./commands/simulate.ts'),
  },
  {
    name: 'completion',
    summary: 'print a script that completes commands and flags in your shell',
    load: () => import('./commands/completion.ts'),
  },
];
