/** From the least that is expected to the most. */
export interface Range {
  readonly least: number;
  readonly most: number;
}

/** Output tokens of an answer of which nothing is known. */
export const assumedOutput: Range = { least: 100, most: 1_000 };

/**
 * The output tokens of an answer. `limit`: the most that its request allows, where it names that.
 * `average`: of past answers of the same model, where the ledger knows some.
 */
export function outputRange(limit: number | undefined, average: number | undefined): Range {
  if (average === undefined) {
    return limit === undefined ? assumedOutput : { least: 0, most: limit };
  }
  return { least: Math.min(average, limit ?? average), most: limit ?? average };
}
