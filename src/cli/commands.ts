import type { Command } from 'commander';
import { ledgerCommands } from './ledger-commands.ts';

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
    name: 'serve',
    summary: 'run a gateway: programs in any language set their base URL and are batched',
    load: () => import('./commands/serve.ts'),
  },
  ...ledgerCommands,
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
