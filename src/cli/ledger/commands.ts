import type { Command } from 'commander';

/** A command of the ledger; its module is loaded when it is called. */
interface LedgerCommand {
  readonly name: string;
  /** What the command does, in half a line. */
  readonly summary: string;
  load(): Promise<{ define(command: Command): void }>;
}

/** The commands on the ledger, in the order of the help. */
export const ledgerCommands: readonly LedgerCommand[] = [
  {
    name: 'ls',
    summary: 'list the batches of the ledger, the newest last',
    load: () => import('./ls.ts'),
  },
  {
    name: 'show',
    summary: 'show one batch: its facts, times, errors and requests',
    load: () => import('./show.ts'),
  },
  {
    name: 'cancel',
    summary: 'cancel batches at their providers',
    load: () => import('./cancel.ts'),
  },
  {
    name: 'collect',
    summary: 'fetch the answers of batches whose program has ended',
    load: () => import('./collect.ts'),
  },
  {
    name: 'export',
    summary: 'write requests and answers of batches to a file',
    load: () => import('./export.ts'),
  },
  {
    name: 'prune',
    summary: 'drop what is old from the ledger',
    load: () => import('./prune.ts'),
  },
  {
    name: 'doctor',
    summary: 'check versions, ledger, keys, clients, clock and proxies',
    load: () => import('./doctor.ts'),
  },
];

/** Adds the commands; only the one that is called is loaded. */
export async function addLedgerCommands(batchling: Command, called: string | undefined) {
  for (const { name, summary, load } of ledgerCommands) {
    const command = batchling.command(name).description(summary);
    if (name === called) (await load()).define(command);
  }
}
