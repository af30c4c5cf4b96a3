import { counted } from './summary.ts';

/** What becomes of the calls of a scope that ends early. */
export interface LeftCalls {
  /** In no batch, and not on their way into one. */
  readonly unsent: number;
  /** Sent by another process. */
  readonly elsewhere: number;
  /** Batches that the provider has. */
  readonly batches: number;
}

/** What was dropped, what is stored, and how to come by it; `undefined` if there is nothing to say. */
export function endNote(
  endedBy: string,
  { unsent, elsewhere, batches }: LeftCalls,
  store: string,
): string | undefined {
  const facts: string[] = [];
  if (unsent > 0) facts.push(`${counted(unsent, 'call')} dropped that had not been sent`);
  const isKept = store !== ':memory:';
  if (isKept && batches === 1) facts.push(`a batch under way stays in ${store}`);
  if (isKept && batches > 1) {
    facts.push(`${counted(batches, 'batch', 'batches')} under way stay in ${store}`);
  }
  if (isKept && elsewhere > 0) {
    facts.push(`${counted(elsewhere, 'call')} left to another process that uses ${store}`);
  }
  if (facts.length === 0) return undefined;
  const collect = 'Run the program again to collect the answers.';
  const isStored = isKept && batches + elsewhere > 0;
  return `ended by ${endedBy}; ${facts.join('; ')}.${isStored ? ` ${collect}` : ''}`;
}
