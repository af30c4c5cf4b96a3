import type { Command } from 'commander';

const examples = `
Examples:
  $ batchling simulate                        then set the variables that it prints
  $ batchling simulate --port 0 --json        any free port, its URLs as JSON
  $ batchling simulate --answers answers.mjs  answers made by a function of yours`;

export function define(command: Command): void {
  command
    .option('--port <number>', 'port to listen on; 0 takes any free one', '4010')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--speed <milliseconds>', 'how long a batch runs', '2000')
    .option('--answers <file>', 'module whose default export, or `answer`, gives the answers')
    .option('--models <names>', 'the models there are, separated by commas; others are refused')
    .option('--json', 'print where it listens as JSON')
    .addHelpText('after', examples)
    .action(async (flags: Record<string, string | boolean>) => {
      const { simulate } = await import('../start/start-simulator.ts');
      await simulate(flags);
    });
}
