import { CommanderError } from 'commander';

/** Prints the message and returns the error to throw; the command ends with the exit code of wrong usage. */
export function usageError(message: string): CommanderError {
  process.stderr.write(`error: ${message}\n`);
  return new CommanderError(2, 'batchling.flag', message);
}
