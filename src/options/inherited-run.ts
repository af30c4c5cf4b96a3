import { BatchlingError } from '../base/errors.ts';
import type { Environment } from './form.ts';
import { show } from './shown-value.ts';

export const runVariable = 'BATCHLING_RUN';
const allowed = '1 to 64 letters, digits, dots, dashes or underscores';

/**
 * The name of the run that this process belongs to, if a parent process has set it. It goes into the
 * ledger, so only a plain name is accepted.
 */
export function inheritedRun(environment: Environment = process.env): string | undefined {
  const name = environment[runVariable];
  if (name === undefined || name === '') return undefined;
  if (/^[\w.-]{1,64}$/.test(name)) return name;
  throw new BatchlingError(
    'INVALID_OPTION',
    `Invalid variable ${runVariable}: ${show(name)}. Allowed: ${allowed}.`,
    { facts: { option: runVariable, allowed } },
  );
}
