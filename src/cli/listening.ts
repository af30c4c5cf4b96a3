import type { Command } from 'commander';
import { tokenVariable } from '../base/run-variables.ts';
import { isThisMachine } from '../base/this-machine.ts';
import { usageError } from './usage-error.ts';

/** Adds the flags of a command that listens. `token`: what the token is for. */
export function addListeningFlags(command: Command, port: string, token: string): Command {
  return command
    .option('--port <number>', 'port to listen on; 0 takes any free one', port)
    .option(
      '--host <address>',
      'address to listen on; any but this machine needs a token',
      '127.0.0.1',
    )
    .option('--token <text>', `${token} (better: ${tokenVariable}, which others cannot see)`);
}

export function readPort(text: string): number {
  return readWhole('--port', text, 65_535);
}

export function readWhole(flag: string, text: string, most: number): number {
  const number = Number(text);
  if (text !== '' && Number.isInteger(number) && number >= 0 && number <= most) return number;
  throw usageError(`${flag} must be a whole number from 0 to ${most}, but got: ${text}`);
}

/** The token that was given; a server that other machines reach needs one. */
export function tokenFor(host: string, flag: string | undefined): string | undefined {
  const token = flag ?? (process.env[tokenVariable]?.trim() || undefined);
  if (token === '') throw usageError('--token is empty');
  // Clients send it in a header; a browser does not even try to send others.
  if (token !== undefined && !/^[\x20-\x7e]+$/.test(token)) {
    throw usageError(
      'the token holds a character that no header can: take letters, digits and signs of ASCII',
    );
  }
  if (token === undefined && !isThisMachine(host)) {
    throw usageError(
      `--host ${host} can be reached from other machines: set ${tokenVariable} to a token that clients must send`,
    );
  }
  return token;
}

/** Says which flag is wrong where a server cannot listen. */
export async function explained<T>(
  starting: Promise<T>,
  { port, host }: { readonly port: number; readonly host: string },
): Promise<T> {
  try {
    return await starting;
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === 'EADDRINUSE') {
      throw usageError(`--port: ${port} is in use; give another one, or 0 for any free one`);
    }
    if (code === 'EACCES') throw usageError(`--port: ${port} is not allowed to you`);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
      throw usageError(`--host: ${host} is no address of this machine`);
    }
    throw error;
  }
}
