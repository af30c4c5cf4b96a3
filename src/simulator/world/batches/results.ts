import type { World } from '../world.ts';
import type { Batch } from './batch.ts';

/** All result lines of a provider that has one place for them, in no order. */
export function shuffledResults({ random }: World, { results }: Pick<Batch, 'results'>): string[] {
  const lines = [...results.answered, ...results.failed];
  random.shuffle(lines);
  return lines;
}

/** How many reads of the results answer 404 before they can be read. */
export function readsNotFound({ settings }: World, { script }: Pick<Batch, 'script'>): number {
  return script.resultsNotFoundReads ?? settings.resultsNotFoundReads;
}
