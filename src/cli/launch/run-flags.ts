import { type Command, Option } from 'commander';
import { optionFlags } from '../../options/flags.ts';
import { onDone, onDoneFlag } from '../done/on-done.ts';
import { addOptionFlags, optionTerm, positiveOf } from '../option-flags.ts';
import { usageError } from '../usage-error.ts';

/** Flags of a run that are no options of `batchify`. */
export interface RunFlags {
  /** Values of flags by the names of their options, always as text. */
  readonly [option: string]: string | undefined;
  readonly config?: string;
  readonly detach?: string;
  readonly requireBatched?: string;
  readonly onDone?: string;
  /** A flag of `exec` alone. */
  readonly gateway?: string;
}

const detach = '--detach';
const requireBatched = '--require-batched';
const switches: ReadonlySet<string> = new Set([
  detach,
  requireBatched,
  ...optionFlags.filter(({ isSwitch }) => isSwitch).map(({ name }) => name),
]);
const gateway = '--gateway';
const execSwitches: ReadonlySet<string> = new Set([...switches, gateway]);

const valued: ReadonlySet<string> = new Set([
  '--config',
  onDone,
  ...optionFlags.filter(({ isSwitch }) => !isSwitch).map(({ name }) => name),
]);

/** Adds the flags that `run` and `exec` share. Each has a value; `withValues` gives it to switches. */
export function addRunFlags(command: Command): void {
  command
    .addOption(
      new Option(
        `${detach} <value>`,
        'exit with code 75 as soon as everything is sent; run the same command again for the answers',
      ),
    )
    .addOption(
      new Option(
        `${requireBatched} <value>`,
        'fail if an LLM call is not batched: such calls get an error (--bypass error), and the exit code is 1',
      ),
    )
    .addOption(onDoneFlag('when the run has ended'))
    .addOption(
      new Option(
        '--config <file>',
        'options from this file (default: batchling.config.ts, .js, .mjs or .json of the project)',
      ),
    );
  addOptionFlags(command, optionFlags);
  command.configureHelp({ optionTerm: runTerm });
}

/** Adds the flag that `exec` has besides. */
export function addGatewayFlag(command: Command): void {
  command.addOption(
    new Option(
      `${gateway} <value>`,
      'also put programs that are not Node in batch mode, by the variables for base URLs that their SDKs read',
    ),
  );
}

/**
 * Gives every switch that stands before the file its value: `--cache` becomes `--cache=true`, `--no-cache`
 * becomes `--cache=false`. Otherwise a switch with an optional value would take the file for its value.
 * `rest` begins with the file, or with `--`.
 */
function split(
  given: readonly string[],
  known: ReadonlySet<string>,
): { flags: string[]; rest: string[] } {
  const prepared = [...given];
  let at = 0;
  for (; at < prepared.length; at += 1) {
    const argument = prepared[at] as string;
    if (argument === '--' || !argument.startsWith('-')) break;
    const positive = positiveOf(argument);
    if (known.has(argument)) prepared[at] = `${argument}=true`;
    else if (positive !== argument && known.has(positive)) prepared[at] = `${positive}=false`;
    else if (valued.has(argument)) at += 1;
  }
  return { flags: prepared.slice(0, at), rest: prepared.slice(at) };
}

/** What commander is given for `run`. A `--` right after the file says that the program's own flags follow. */
export function prepareRun(given: readonly string[]): string[] {
  const { flags, rest } = split(given, switches);
  const [file = '', next, ...others] = rest;
  if (next === '--') return [...flags, file, ...others];
  refuseMisplaced(rest, switches, (flag, rests) => [
    `${flag} stands after the file, where it does not count. Write it before the file: batchling run ${flag} ${file}`,
    `If it is a flag of the program's own: batchling run ${file} -- ${rests}`,
  ]);
  return [...flags, ...rest];
}

/** What commander is given for `exec`. After a `--` everything is the command's own. */
export function prepareExec(given: readonly string[]): string[] {
  const { flags, rest } = split(given, execSwitches);
  const [command = ''] = rest;
  refuseMisplaced(rest, execSwitches, (flag, rests) => [
    `${flag} stands after the command, where it does not count. Write it before: batchling exec ${flag} -- ${command}`,
    `If it is a flag of the command's own: batchling exec -- ${command} ${rests}`,
  ]);
  return [...flags, ...rest];
}

/** A flag of ours that a program gets instead of us may be the one that was to save the money. */
function refuseMisplaced(
  [first, ...rest]: readonly string[],
  known: ReadonlySet<string>,
  advice: (flag: string, rest: string) => readonly string[],
): void {
  if (first === '--') return;
  const end = rest.indexOf('--');
  const own = end < 0 ? rest : rest.slice(0, end);
  const at = own.findIndex((argument) => isOurs(argument.replace(/=.*$/s, ''), known));
  const flag = own[at];
  if (flag === undefined) return;
  const value = valued.has(flag) ? own[at + 1] : undefined;
  const whole = value === undefined ? flag : `${flag} ${value}`;
  throw usageError(advice(whole, rest.join(' ')).join('\n'));
}

function isOurs(name: string, known: ReadonlySet<string>): boolean {
  return valued.has(name) || known.has(positiveOf(name));
}

/** Switches of a run that are no options have no value to show. */
function runTerm(option: Option): string {
  const { long = '' } = option;
  const isOwn = execSwitches.has(long) && !optionFlags.some(({ name }) => name === long);
  return isOwn ? long : optionTerm(option);
}
