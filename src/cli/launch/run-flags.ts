import { type Command, Option } from 'commander';
import { optionFlags } from '../../options/flags.ts';
import { usageError } from '../usage-error.ts';

/** Flags of a run that are no options of `batchify`. */
export interface RunFlags {
  /** Values of flags by the names of their options, always as text. */
  readonly [option: string]: string | undefined;
  readonly config?: string;
  readonly detach?: string;
  readonly requireBatched?: string;
}

const detach = '--detach';
const requireBatched = '--require-batched';
const switches: ReadonlySet<string> = new Set([
  detach,
  requireBatched,
  ...optionFlags.filter(({ isSwitch }) => isSwitch).map(({ name }) => name),
]);
const valued: ReadonlySet<string> = new Set([
  '--config',
  ...optionFlags.filter(({ isSwitch }) => !isSwitch).map(({ name }) => name),
]);

/** Adds the flags that `run` and `exec` share. Each has a value; `withValues` gives it to switches. */
export function addRunFlags(command: Command): void {
  for (const flag of optionFlags) {
    command.addOption(new Option(`${flag.name} <value>`, `${flag.help} (default: ${flag.usual})`));
  }
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
    .addOption(
      new Option(
        '--config <file>',
        'options from this file (default: batchling.config.ts, .js, .mjs or .json of the project)',
      ),
    )
    .configureHelp({ optionTerm });
}

/**
 * Gives every switch that stands before the file its value: `--cache` becomes `--cache=true`, `--no-cache`
 * becomes `--cache=false`. Otherwise a switch with an optional value would take the file for its value.
 * `rest` begins with the file, or with `--`.
 */
function split(given: readonly string[]): { flags: string[]; rest: string[] } {
  const prepared = [...given];
  let at = 0;
  for (; at < prepared.length; at += 1) {
    const argument = prepared[at] as string;
    if (argument === '--' || !argument.startsWith('-')) break;
    const positive = positiveOf(argument);
    if (switches.has(argument)) prepared[at] = `${argument}=true`;
    else if (positive !== argument && switches.has(positive)) prepared[at] = `${positive}=false`;
    else if (valued.has(argument)) at += 1;
  }
  return { flags: prepared.slice(0, at), rest: prepared.slice(at) };
}

function positiveOf(argument: string): string {
  return argument.replace(/^--no-/, '--');
}

/** What commander is given for `run`. A `--` right after the file says that the program's own flags follow. */
export function prepareRun(given: readonly string[]): string[] {
  const { flags, rest } = split(given);
  const [file = '', next, ...others] = rest;
  if (next === '--') return [...flags, file, ...others];
  refuseMisplaced(rest, (flag, rests) => [
    `${flag} stands after the file, where it does not count. Write it before the file: batchling run ${flag} ${file}`,
    `If it is a flag of the program's own: batchling run ${file} -- ${rests}`,
  ]);
  return [...flags, ...rest];
}

/** What commander is given for `exec`. After a `--` everything is the command's own. */
export function prepareExec(given: readonly string[]): string[] {
  const { flags, rest } = split(given);
  const [command = ''] = rest;
  refuseMisplaced(rest, (flag, rests) => [
    `${flag} stands after the command, where it does not count. Write it before: batchling exec ${flag} -- ${command}`,
    `If it is a flag of the command's own: batchling exec -- ${command} ${rests}`,
  ]);
  return [...flags, ...rest];
}

/** A flag of ours that a program gets instead of us may be the one that was to save the money. */
function refuseMisplaced(
  [first, ...rest]: readonly string[],
  advice: (flag: string, rest: string) => readonly string[],
): void {
  if (first === '--') return;
  const end = rest.indexOf('--');
  const own = end < 0 ? rest : rest.slice(0, end);
  const at = own.findIndex((argument) => isOurs(argument.replace(/=.*$/s, '')));
  const flag = own[at];
  if (flag === undefined) return;
  const value = valued.has(flag) ? own[at + 1] : undefined;
  const whole = value === undefined ? flag : `${flag} ${value}`;
  throw usageError(advice(whole, rest.join(' ')).join('\n'));
}

function isOurs(name: string): boolean {
  return valued.has(name) || switches.has(positiveOf(name));
}

/** How a flag stands in the help: as it is typed. */
function optionTerm(option: Option): string {
  const name = option.long ?? '';
  const flag = optionFlags.find((candidate) => candidate.name === name);
  if (!switches.has(name)) return option.flags;
  if (flag?.option === 'dryRun') return `${name}[=deep]`;
  return flag === undefined ? name : `--[no-]${name.slice(2)}`;
}
