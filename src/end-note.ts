import type { CapturedCall } from './orchestrator/pending.ts';
import { counted } from './report/summary.ts';

/** It is in a batch, or on its way into one; or it has its verdict and goes out. */
export function isSent({ pending, settled }: CapturedCall): boolean {
  return settled || pending?.batch !== undefined || pending?.planning === true;
}

/** What becomes of the calls of a scope that ends early, for the user. */
export class EndNote {
  readonly #batches = new Set<object>();
  #unsent: number;
  #elsewhere = 0;

  /** `reading`: calls whose body was not there yet. */
  constructor(reading: number) {
    this.#unsent = reading;
  }

  add(call: CapturedCall): void {
    const { pending } = call;
    if (pending?.elsewhere) this.#elsewhere += 1;
    else if (!isSent(call)) this.#unsent += 1;
    else if (pending?.batch?.remote) this.#batches.add(pending.batch);
  }

  /** What was dropped, what is stored, and how to come by it; `undefined` if there is nothing to say. */
  text(endedBy: string, store: string): string | undefined {
    const facts: string[] = [];
    if (this.#unsent > 0) {
      facts.push(`${counted(this.#unsent, 'call')} dropped that had not been sent`);
    }
    const isKept = store !== ':memory:';
    const { size } = this.#batches;
    if (isKept && size === 1) facts.push(`a batch under way stays in ${store}`);
    if (isKept && size > 1)
      facts.push(`${counted(size, 'batch', 'batches')} under way stay in ${store}`);
    if (isKept && this.#elsewhere > 0) {
      facts.push(`${counted(this.#elsewhere, 'call')} left to another process that uses ${store}`);
    }
    if (facts.length === 0) return undefined;
    const collect = 'Run the program again to collect the answers.';
    const isStored = isKept && size + this.#elsewhere > 0;
    return `ended by ${endedBy}; ${facts.join('; ')}.${isStored ? ` ${collect}` : ''}`;
  }
}
