import { CommanderError } from 'commander';
import { BatchlingError } from '../base/errors.ts';

/** Prints the message and returns the error to throw; the command ends with the exit code of wrong usage. */
export function usageError(message: string): CommanderError {
  process.stderr.write(`error: ${message}\n`);
  return new CommanderError(2, 'batchling.flag', message);
}

/** Whether a command was called in a wrong way, so that nothing has begun. */
export function isUsageError(error: unknown): boolean {
  if (error instanceof CommanderError) return true;
  return BatchlingError.isInstance(error) && usageCodes.has(error.code);
}

const usageCodes: ReadonlySet<string> = new Set(['INVALID_OPTION', 'BAD_INPUT', 'NOT_AVAILABLE']);
