import type { Answer } from '../../base/types.ts';
import type { BadLine } from '../../batchers/batcher.ts';

/** What the numbers of bad lines say about the members of a batch, by their places in it. */
export interface Accused {
  /** Their own reasons, once every line of the batch is named: only then it is certain who is meant. */
  readonly proved: ReadonlyMap<number, Answer>;
  /** Groups of places to be sent apart from each other; what is in none of them is the rest. */
  readonly suspects: readonly ReadonlySet<number>[];
}

/**
 * Finds the requests that a provider means by its line numbers. Whether they count from one is documented nowhere, so nobody
 * is told on the strength of a number alone: those meant if they count from one, those meant if they count
 * from zero, and the rest go out as batches of their own. A batch that holds bad lines only has each of its lines named,
 * however they are counted; in the others there are fewer suspects than before.
 */
export function accusedBy(bad: readonly BadLine[], size: number): Accused {
  const answers = new Map<number, Answer>();
  for (const { line, answer } of bad) if (!answers.has(line)) answers.set(line, answer);
  const lines = [...answers.keys()].sort((a, b) => a - b);
  if (lines.length >= size) {
    const proved = lines
      .slice(0, size)
      .map((line, at) => [at, answers.get(line) as Answer] as const);
    return { proved: new Map(proved), suspects: [] };
  }
  const isPlace = (place: number) => Number.isInteger(place) && place >= 0 && place < size;
  const fromOne = new Set(lines.map((line) => line - 1).filter(isPlace));
  const fromZero = new Set(lines.filter((line) => isPlace(line) && !fromOne.has(line)));
  return {
    proved: new Map(),
    suspects: [fromOne, fromZero].filter((places) => places.size > 0),
  };
}
