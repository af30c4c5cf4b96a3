import type { Command } from 'commander';

export function define(command: Command): void {
  command.addHelpText('after', '\nExample:\n  $ npx batchling demo').action(async () => {
    const { demo } = await import('../start/start-demo.ts');
    await demo();
  });
}
