import type { CommandEntry } from './commands.ts';

/** The commands on the ledger, in the order of the help. */
export const ledgerCommands: readonly CommandEntry[] = [
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
];
