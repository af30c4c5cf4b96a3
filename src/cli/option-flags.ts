import { type Command, Option } from 'commander';
import { checkFlag, type OptionFlag, optionFlags } from '../options/flags.ts';
import type { OptionName } from '../options/types.ts';

/** What the help of one command says otherwise than the table of options. */
export type OwnWords = Partial<
  Record<OptionName, { readonly help?: string; readonly usual?: string }>
>;

const heading = 'Batching (--batch-size is also the variable BATCHLING_BATCH_SIZE, and so on):';

/** Switches that take a value, too. */
const withValue: Partial<Record<OptionName, string>> = {
  dryRun: '--dry-run[=deep]',
  canary: '--[no-]canary[=batch]',
};

/** Adds options of `batchify` to a command. Each flag has a value; `withSwitchValues` gives it to switches. */
export function addOptionFlags(
  command: Command,
  flags: readonly OptionFlag[],
  own: OwnWords = {},
): void {
  for (const { name, option: key, help, usual, placeholder } of flags) {
    const words = { help, usual, ...own[key] };
    const option = new Option(
      `${name} <${placeholder}>`,
      `${words.help} (default: ${words.usual})`,
    );
    command.addOption(option.helpGroup(heading));
  }
  command.configureHelp({ optionTerm });
}

/** How a flag stands in the help: as it is typed. */
export function optionTerm({ long, flags }: Option): string {
  const flag = optionFlags.find(({ name }) => name === long);
  if (!flag?.isSwitch) return flags;
  return withValue[flag.option] ?? `--[no-]${flag.name.slice(2)}`;
}

/** What commander is given: `--cache` becomes `--cache=true`, `--no-cache` becomes `--cache=false`. */
export function withSwitchValues(given: readonly string[], flags: readonly OptionFlag[]): string[] {
  const switches = new Set(flags.filter(({ isSwitch }) => isSwitch).map(({ name }) => name));
  return given.map((argument) => {
    const positive = positiveOf(argument);
    return switches.has(positive) ? `${positive}=${positive === argument}` : argument;
  });
}

export function positiveOf(argument: string): string {
  return argument.replace(/^--no-/, '--');
}

/** What the shell has set where flags stand in the place of variables. */
const replaced: Record<string, string | undefined> = {};

/** The variables as the shell has set them, for commands that are no part of the work. */
export function shellVariables(): Record<string, string | undefined> {
  return { ...process.env, ...replaced };
}

/** Flags of options count as their variables, which every scope of the process reads. */
export function useOptionFlags(
  given: Readonly<Record<string, unknown>>,
  flags: readonly OptionFlag[],
  hasConfig: boolean,
): void {
  for (const flag of flags) {
    const text = given[flag.option];
    if (typeof text !== 'string') continue;
    checkFlag(flag, text, hasConfig);
    if (!Object.hasOwn(replaced, flag.variable)) {
      replaced[flag.variable] = process.env[flag.variable];
    }
    process.env[flag.variable] = text;
  }
}
