import { BatchlingError } from '../base/errors.ts';
import { Refused } from './form.ts';
import { parseContext } from './resolve.ts';
import { definitionOf, optionNames, variableOf } from './table.ts';
import type { OptionName } from './types.ts';

/** An option as a flag of the command line. */
export interface OptionFlag {
  readonly option: OptionName;
  /** `--batch-size` */
  readonly name: string;
  readonly variable: string;
  /** It needs no value: `--cache`, `--no-cache`, `--cache=false`. */
  readonly isSwitch: boolean;
  readonly help: string;
  /** The default in words. */
  readonly usual: string;
  /** What stands for its value in a line of help. */
  readonly placeholder: string;
}

/** All options that can be written as text. */
export const optionFlags: readonly OptionFlag[] = optionNames.flatMap((option) => {
  const variable = variableOf(option);
  if (variable === undefined) return [];
  const { help, usual, placeholder = 'value' } = definitionOf(option);
  const name = `--${option.replace(/[A-Z]/g, '-$&').toLowerCase()}`;
  const isSwitch = usual === 'true' || usual === 'false';
  return { option, name, variable, isSwitch, help, usual, placeholder };
});

/**
 * Checks the text of a flag as its variable is checked; throws `INVALID_OPTION`. Providers of the user's
 * own batchers are not known here: with `anyProvider`, options that name providers are left unchecked.
 */
export function checkFlag(flag: OptionFlag, text: string, anyProvider: boolean): void {
  if (text.trim() === '') throw refusal(flag, new Refused('empty'));
  if (anyProvider && namesProviders(flag.option)) return;
  const { read, parse } = definitionOf(flag.option);
  try {
    parse(
      read?.(text),
      parseContext(process.env, () => []),
    );
  } catch (error) {
    throw error instanceof Refused ? refusal(flag, error) : error;
  }
}

export function namesProviders(option: OptionName): boolean {
  return option === 'hosts' || option === 'only';
}

function refusal({ option, name }: OptionFlag, refused: Refused): BatchlingError {
  const { allowed } = definitionOf(option);
  const facts = { option, allowed };
  const detail = refused.detail === undefined ? '' : ` (${refused.detail})`;
  const message = `${name}: it cannot be ${refused.shown}${detail}. Allowed: ${allowed}.`;
  return new BatchlingError('INVALID_OPTION', message, { facts });
}
