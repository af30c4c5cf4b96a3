/**
 * How the providers' prompt caches behave.
 *
 * @example
 * ```ts
 * simulator.configure({ promptCache: { hits: 0.5, minimum: 100 } });
 * ```
 */
export interface PromptCacheSettings {
  /** The share of calls that find what is there for them, by a seeded sequence; the others write it again. */
  hits: number;
  /** Tokens from which on a beginning is kept; null for the limit of each model. */
  minimum: number | null;
  /** Whether OpenAI and Gemini keep long prompts without being asked to. */
  automatic: boolean;
}

export const usualCache: PromptCacheSettings = { hits: 1, minimum: null, automatic: true };

export function checkCacheSettings(name: string, settings: object): void {
  for (const [key, value] of Object.entries(settings)) {
    if (!(key in usualCache)) throw new TypeError(`Unknown simulator setting '${name}.${key}'`);
    if (value === undefined || isValid(key as keyof PromptCacheSettings, value)) continue;
    throw new TypeError(`Simulator setting '${name}.${key}' cannot be ${JSON.stringify(value)}`);
  }
}

function isValid(key: keyof PromptCacheSettings, value: unknown): boolean {
  if (key === 'automatic') return typeof value === 'boolean';
  if (key === 'minimum' && value === null) return true;
  return typeof value === 'number' && value >= 0 && (key === 'minimum' || value <= 1);
}
