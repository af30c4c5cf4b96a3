import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { Command } from 'commander';
import { messageOf } from '../../base/errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { checkStoreOf } from '../launch/check-store.ts';
import { launch } from '../launch/launch.ts';
import { gatewayNote, isOtherLanguage } from '../launch/other-languages.ts';
import { imports } from '../launch/own-modules.ts';
import { runEnvironment, type Variables } from '../launch/run-environment.ts';
import { addGatewayFlag, addRunFlags, prepareExec, type RunFlags } from '../launch/run-flags.ts';

const notes = `
All processes of the command are one run. Programs that are not Node need --gateway: their SDKs
find it by the variables for their base URLs (OPENAI_BASE_URL, ANTHROPIC_BASE_URL ...).

Examples:
  $ batchling exec -- npx promptfoo eval
  $ batchling exec --window 10s -- npm test
  $ batchling exec --gateway -- python eval.py
  $ batchling exec -- vitest run            commands of node_modules/.bin need no npx`;

export { prepareExec as prepare };

export function define(command: Command): void {
  command
    .usage('[flags] -- <command...>')
    .argument('<command>', 'a program on the PATH, or in node_modules/.bin')
    .argument('[args...]', 'its arguments')
    .passThroughOptions();
  addRunFlags(command);
  addGatewayFlag(command);
  command.addHelpText('after', notes).action(exec);
}

async function exec(command: string, given: string[], flags: RunFlags): Promise<void> {
  const environment = runEnvironment(flags);
  await checkStoreOf(environment);
  const shows = environment.display !== 'none' && environment.display !== 'json';
  const isMissed = flags.gateway === undefined && isOtherLanguage(command);
  if (shows && isMissed) process.stderr.write(`batchling: ${gatewayNote(command)}\n`);
  const variables = {
    ...withBinaries(environment.variables),
    NODE_OPTIONS: nodeOptions(environment.config, environment.variables.NODE_OPTIONS),
  };
  try {
    process.exitCode = await launch({
      as: 'exec',
      called: command,
      onDone: flags.onDone,
      command,
      given,
      variables,
      environment,
      isCommand: true,
    });
  } catch (error) {
    process.exitCode = notStarted(command, error);
  }
  // Connections that the gateway was making when it was closed keep the process up no longer.
  if (environment.hasGateway) process.exit();
}

/** Our imports come first, so that modules which the user's own options import are captured, too. */
function nodeOptions(config: string | undefined, users: string | undefined): string {
  // URLs have no spaces and no quotes.
  const ours = imports(config).map((url) => `--import=${url}`);
  return [...ours, ...(users?.trim() ? [users] : [])].join(' ');
}

/** The PATH with `node_modules/.bin` of this folder and of those above it, as npx has it. */
function withBinaries(variables: Variables): Variables {
  const folders: string[] = [];
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    folders.push(join(folder, 'node_modules', '.bin'));
    if (dirname(folder) === folder) break;
  }
  // Windows writes it as Path.
  const name = Object.keys(variables).find((key) => key.toUpperCase() === 'PATH') ?? 'PATH';
  return { ...variables, [name]: [...folders, variables[name] ?? ''].join(delimiter) };
}

/** Prints why the command could not be started, and returns the exit code that a shell has for it. */
function notStarted(command: string, error: unknown): number {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') {
    const isFile = existsSync(command) || /\.([cm]?[jt]s|[jt]sx)$/.test(command);
    const advice = isFile ? ` To run a file: batchling run ${command}` : '';
    process.stderr.write(`error: command not found: ${command}.${advice}\n`);
    return exitCodes.notFound;
  }
  const reason = code === 'EACCES' ? 'it is not executable' : messageOf(error);
  process.stderr.write(`error: ${command} cannot be started: ${reason}\n`);
  return exitCodes.notExecutable;
}
