import type { Expectation } from './expectation.ts';

/** The least and the most that is expected. */
export interface Range {
  readonly least: number;
  readonly most: number;
}

/** Output tokens of an answer of which nothing is known. */
export const assumedOutput: Range = { least: 100, most: 1_000 };

/**
 * The output tokens of all answers to a request. `average`: of past answers of the same model, where the
 * ledger knows some.
 */
export function outputRange(
  { outputLimit: limit, answers }: Expectation,
  average: number | undefined,
): Range {
  if (average === undefined) {
    const { least, most } = assumedOutput;
    if (limit === undefined) return { least: least * answers, most: most * answers };
    return { least: 0, most: limit };
  }
  const usual = average * answers;
  return { least: Math.min(usual, limit ?? usual), most: limit ?? usual };
}
