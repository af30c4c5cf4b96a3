import { counted } from './summary.ts';

/** The calls of a scope that an error or its signal has ended. */
export interface LeftCalls {
  /** Calls that are in no batch and in no plan for one. */
  readonly unsent: number;
  /** Calls whose requests another process has sent. */
  readonly elsewhere: number;
  /** Batches that the provider has accepted. */
  readonly batches: number;
}

/** Says what was dropped, what is stored and how to collect it; `undefined` where nothing was left. */
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
