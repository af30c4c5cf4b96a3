import type { JsonObject } from '../../server/json.ts';

/** Counts how often each prompt was asked. */
export class PromptCounts {
  readonly #counts = new Map<string, number>();

  count(provider: string, endpoint: string, body: JsonObject, prompt: string): number {
    const key = JSON.stringify([provider, endpoint, body.model, prompt]);
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count;
  }

  reset(): void {
    this.#counts.clear();
  }
}
