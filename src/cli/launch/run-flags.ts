import { type Command, Option } from 'commander';
import { optionFlags } from '../../options/flags.ts';

/** Flags of a run that are no options of `batchify`. */
export interface RunFlags {
  /** By the name of the option; always text. */
  readonly [option: string]: string | undefined;
  readonly config?: string;
  readonly detach?: string;
}

const detach = '--detach';
const switches: ReadonlySet<string> = new Set([
  detach,
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
        '--config <file>',
        'options from this file (default: batchling.config.ts, .js, .mjs or .json of the project)',
      ),
    )
    .configureHelp({ optionTerm });
}

/**
 * Gives every switch that stands before the file its value: `--cache` becomes `--cache=true`, `--no-cache`
 * becomes `--cache=false`. Otherwise a switch with an optional value would take the file for its value.
 */
export function withValues(given: readonly string[]): string[] {
  const prepared = [...given];
  for (let at = 0; at < prepared.length; at += 1) {
    const argument = prepared[at] as string;
    if (argument === '--' || !argument.startsWith('-')) break;
    const positive = argument.replace(/^--no-/, '--');
    if (switches.has(argument)) prepared[at] = `${argument}=true`;
    else if (positive !== argument && switches.has(positive)) prepared[at] = `${positive}=false`;
    else if (valued.has(argument)) at += 1;
  }
  return prepared;
}

/** Flags with which a run costs less, or nothing: who writes one of them too late pays for it. */
const sparing = /^(--dry-run|--budget|--detach)(=|$)/;

/** Says that a flag after the file goes to the program. It may be the program's own, so the run goes on. */
export function tellMisplaced(given: readonly string[]): void {
  for (const argument of given) {
    const [, name] = sparing.exec(argument) ?? [];
    if (name === undefined) continue;
    process.stderr.write(
      `batchling: ${name} stands after the file, so it goes to the program; for batchling, write it before the file\n`,
    );
  }
}

/** How a flag stands in the help: as it is typed. */
function optionTerm(option: Option): string {
  const name = option.long ?? '';
  const flag = optionFlags.find((candidate) => candidate.name === name);
  if (!switches.has(name)) return option.flags;
  if (flag?.option === 'dryRun') return `${name}[=deep]`;
  return flag === undefined ? name : `--[no-]${name.slice(2)}`;
}
