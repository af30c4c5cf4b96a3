import { createHash } from 'node:crypto';
import type { CacheLimits } from '../model/execute.ts';
import { charactersPerToken } from '../model/prompt.ts';
import type { Prefix } from './prompt-cache.ts';

/** How a provider keeps prompts without being asked to. */
export interface AutomaticCache {
  /** Tokens from which on a prompt is kept. */
  minimum: number;
  life: number;
  /** Whether writing is billed. */
  write: 'cacheWrite' | 'free';
}

/** Prompts are kept in steps of so many tokens. */
const step = 128;

/** The beginnings of a prompt that are kept, in steps; `head` is what two prompts must have in common as well. */
export function automaticPrefixes(
  head: unknown,
  prompt: readonly unknown[],
  cache: AutomaticCache | null,
  { minimum, automatic }: CacheLimits,
): Prefix[] {
  if (cache === null || !automatic) return [];
  const text = textIn(prompt);
  const least = minimum ?? cache.minimum;
  const size = step * charactersPerToken;
  if (text.length < Math.max(size, least * charactersPerToken)) return [];
  const hash = createHash('sha256').update(JSON.stringify([head]));
  const prefixes: Prefix[] = [];
  for (let end = size; end <= text.length; end += size) {
    hash.update(text.slice(end - size, end));
    const tokens = end / charactersPerToken;
    if (tokens < least) continue;
    const { life, write } = cache;
    prefixes.push({ hash: hash.copy().digest('base64'), tokens, life, write });
  }
  return prefixes;
}

/** All strings inside of a value, one after another. */
function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(textIn).join('');
}
