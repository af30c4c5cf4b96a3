import { BatchlingError } from '../base/errors.ts';
import type { Refused } from './form.ts';
import { nearest } from './nearest.ts';
import { looksSecret, notShown, show } from './shown-value.ts';
import { optionNames, optionTable } from './table.ts';
import type { OptionName } from './types.ts';

function invalid(message: string, option: string, allowed: string): BatchlingError {
  return new BatchlingError('INVALID_OPTION', message, { facts: { option, allowed } });
}

/** `where`: the variable or the config file that the value came from. */
export function invalidOption(
  option: OptionName,
  refused: Refused,
  where?: string,
): BatchlingError {
  const { allowed } = optionTable[option];
  const place = where === undefined ? option : `${option} (${where})`;
  const detail = refused.detail === undefined ? '' : ` (${refused.detail})`;
  return invalid(
    `Invalid option ${place}: ${refused.shown}${detail}. Allowed: ${allowed}.`,
    option,
    allowed,
  );
}

export function unknownOption(given: string): BatchlingError {
  const meant = nearest(given, optionNames);
  const all = optionNames.join(', ');
  const advice = meant === undefined ? `The options are ${all}.` : `Did you mean ${meant}?`;
  const option = looksSecret(given) ? notShown : given;
  return invalid(`Unknown option ${show(given)}. ${advice}`, option, meant ?? all);
}

export function invalidOptions(given: unknown): BatchlingError {
  const allowed = 'an object';
  return invalid(`Invalid options: ${show(given)}. Allowed: ${allowed}.`, 'options', allowed);
}
