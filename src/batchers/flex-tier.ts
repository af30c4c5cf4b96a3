import type { Answer, Dict } from '../base/types.ts';
import type { CachedInput } from '../pricing/model-price.ts';

/**
 * The slow, cheap tier of a provider for ordinary calls: how it is asked for, and how its answers are known.
 *
 * @example
 * const mineFlex: FlexTier = {
 *   priceShare: 0.5,
 *   patience: 15 * 60_000,
 *   headers: { 'x-tier': 'flex' },
 *   ask: (body) => body,
 *   leaveOut: (body) => body,
 *   hasServed: ({ headers }) => headers['x-tier'] === 'flex',
 *   isRefused: ({ status, body }) => status === 400 && body.includes('tier'),
 *   isFull: ({ status }) => status === 429,
 * };
 */
export interface FlexTier {
  /** The cost of an answer of this tier, as a share of the list price. */
  readonly priceShare: number;
  /** The cost of input that the provider had cached. Missing: it is discounted like the rest. */
  readonly cachedInput?: CachedInput;
  /** Milliseconds without a byte after which a call is given up. */
  readonly patience: number;
  /** Headers that ask for the tier. */
  readonly headers: Dict;
  /** The body that asks for the tier. A body that names another one does not come here. */
  ask(body: string): string;
  /** The body without what asks for this tier: its call goes out at full price, whatever its caller has asked for. */
  leaveOut(body: string): string;
  /** Whether this tier has served the answer, by the answer's own word. */
  hasServed(answer: Answer): boolean;
  /** Whether an error says that the model has no such tier, or that the account may not use it. */
  isRefused(answer: Answer): boolean;
  /** Whether an error says that the tier has no room now. Asked where waiting can help at all. */
  isFull(answer: Answer): boolean;
}
