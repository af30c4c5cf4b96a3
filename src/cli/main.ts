#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { version } from '../version.ts';
import { addLedgerCommands } from './ledger/commands.ts';

/** Exit codes of the contract: 1 the command failed, 2 it was called wrongly. */
const failed = 1;
const usage = 2;

async function program(): Promise<Command> {
  const batchling = new Command('batchling')
    .description("Runs LLM code on the providers' half-price Batch APIs, without rewriting it.")
    .version(version)
    .exitOverride()
    .showHelpAfterError('(add --help for the list of commands and flags)');

  batchling
    .command('demo')
    .description('ask a few questions through the bundled simulator: no API key, no cost')
    .action(async () => {
      const { demo } = await import('./demo.ts');
      await demo();
    });

  batchling
    .command('simulate')
    .description("run the simulator: a local server that speaks the providers' batch wires")
    .option('--port <number>', 'port to listen on; 0 takes any free one', '4010')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--speed <milliseconds>', 'how long a batch runs', '2000')
    .option('--answers <file>', 'module whose default export, or `answer`, gives the answers')
    .option('--models <names>', 'the models there are, separated by commas; others are refused')
    .option('--json', 'print where it listens as JSON')
    .action(async (flags: Record<string, string | boolean>) => {
      const { simulate } = await import('./simulate.ts');
      await simulate(flags);
    });
  await addLedgerCommands(batchling, process.argv[2]);
  return batchling;
}

async function main(): Promise<void> {
  try {
    await (await program()).parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : usage;
      return;
    }
    process.stderr.write(`batchling: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = failed;
  }
}

await main();
