import { Command, CommanderError } from 'commander';
import { messageOf } from '../base/errors.ts';
import { version } from '../base/version.ts';
import { commands } from './commands.ts';
import { exitCodes } from './exit-codes.ts';
import { isUsageError, usageError } from './usage-error.ts';

const examples = `
Examples:
  $ batchling run answer-all.ts             run a program at half the price
  $ batchling run --dry-run answer-all.ts   what would be sent, and what it would cost
  $ batchling exec -- npx promptfoo eval    any command, with all Node processes under it
  $ batchling demo                          see it work without an API key

batchling <command> --help explains a command.`;

/** Runs the command line; sets the exit code of the process. */
export async function runCli(given: readonly string[]): Promise<void> {
  process.stdout.on('error', endWithReader);
  try {
    refuseFile(given[0]);
    const { program, prepared } = await programFor(given);
    if (given.length === 0) program.outputHelp();
    else await program.parseAsync(prepared, { from: 'user' });
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
}

/** `batchling answer-all.ts` looks as if it should work. */
function refuseFile(first: string | undefined): void {
  if (first === undefined || !/\.([cm]?[jt]s|[jt]sx)(:\w+)?$/.test(first)) return;
  throw usageError(`unknown command '${first}'. To run a file: batchling run ${first}`);
}

/** The program with its commands. Of these only the one that is called has its flags. */
async function programFor(given: readonly string[]) {
  const program = new Command('batchling')
    .description("Runs LLM code on the providers' half-price Batch APIs, without rewriting it.")
    .version(version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'explain batchling or a command')
    .helpCommand('help [command]', 'explain a command')
    .addHelpText('after', examples)
    .exitOverride()
    .showHelpAfterError('(add --help for the list of commands and flags)')
    // What stands after the file of `run` belongs to that program.
    .enablePositionalOptions();
  const [first, second] = given;
  const called = first === 'help' ? second : first;
  let prepared = [...given];
  for (const { name, summary, load } of commands) {
    const command = program.command(name).description(summary).helpOption('-h, --help', 'explain');
    if (name !== called) continue;
    const { define, prepare } = await load();
    define(command);
    if (prepare && first === name) prepared = [name, ...prepare(given.slice(1))];
  }
  return { program, prepared };
}

/** `batchling --help | head -1`: the reader has seen enough. */
function endWithReader(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
}

function exitCodeOf(error: unknown): number {
  // Commander has printed its own errors, and help and version are errors to it.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
  const isUsage = isUsageError(error);
  process.stderr.write(`${isUsage ? 'error' : 'batchling'}: ${messageOf(error)}\n`);
  return isUsage ? exitCodes.usage : exitCodes.failed;
}
