import type { Cost } from '../../ledger/ledger.ts';
import { dollars } from '../../pricing/dollars.ts';
import type { CachePrefix, Expectation } from '../../pricing/expectation.ts';
import { isWorthPriming, primingValue } from '../../pricing/priming-value.ts';
import type { Usage } from '../../pricing/usage.ts';
import type { Batch } from '../model/batch.ts';
import type { RequestQueue } from '../model/request-queue.ts';

/** Dollars. Less is not worth a line. */
const leastLoss = 0.01;

interface Written {
  requests: number;
  tokens: number;
  /** Those of them that stay for an hour. */
  hourTokens: number;
  /** The most that one of them has written. */
  most: number;
  /** What they share, if that is marked. */
  readonly prefix: CachePrefix | undefined;
}

/** What the requests of a batch have written to the provider's prompt cache and read from it. */
export class CacheUse {
  #read = 0;
  /** By what the requests share; those that share nothing that is marked are one entry. */
  readonly #written = new Map<string | undefined, Written>();

  /** `expects`: what the request was to write, if that is known. */
  add(
    expects: Pick<Expectation, 'cachePrefix' | 'cacheWriteTokens' | 'cacheWrite1hTokens'> = {},
    { cacheReadTokens = 0, cacheWriteTokens = 0 }: Cost,
  ): void {
    this.#read += cacheReadTokens;
    if (cacheWriteTokens === 0) return;
    const {
      cachePrefix: prefix,
      cacheWriteTokens: minutes = 0,
      cacheWrite1hTokens: hour = 0,
    } = expects;
    const written = this.#written.get(prefix?.key) ?? { ...nothing, prefix };
    this.#written.set(prefix?.key, written);
    written.requests += 1;
    written.tokens += cacheWriteTokens;
    written.hourTokens += hour > 0 ? (cacheWriteTokens * hour) / (minutes + hour) : 0;
    written.most = Math.max(written.most, cacheWriteTokens);
  }

  /** What would have cost less, for people, by topic. */
  advice(batch: Batch): readonly (readonly [topic: string, text: string | undefined])[] {
    if (this.#written.size === 0) return [];
    const { queue, scopes } = batch;
    const shared = { ...nothing };
    const alone = { ...nothing };
    // Nothing is primed against a deadline.
    const mayPrime = [...scopes].every(
      ({ primeCache, deadline }) => !primeCache && deadline === undefined,
    );
    for (const written of this.#written.values()) {
      const { prefix, requests, tokens, most } = written;
      if (prefix === undefined || requests === 1) addTo(alone, written, 1);
      // One of those that share something has to write it.
      else if (mayPrime && wouldPrime(queue, prefix, requests))
        addTo(shared, written, (tokens - most) / tokens);
    }
    return [
      ['shared', primingAdvice(queue, shared)],
      ['unread', this.#read === 0 ? unreadAdvice(queue, alone) : undefined],
    ];
  }
}

type Sum = Omit<Written, 'most' | 'prefix'>;

const nothing = { requests: 0, tokens: 0, hourTokens: 0, most: 0 };

function addTo(sum: Sum, { requests, tokens, hourTokens }: Written, share: number): void {
  sum.requests += requests;
  sum.tokens += tokens * share;
  sum.hourTokens += hourTokens * share;
}

/** Whether `primeCache` would have sent one of these requests ahead. */
function wouldPrime(queue: RequestQueue, prefix: CachePrefix, requests: number): boolean {
  if (queue.limits.cacheMinimum === undefined) return false;
  const value = primingValue(queue, prefix);
  return value !== undefined && isWorthPriming(value, requests - 1);
}

function primingAdvice(queue: RequestQueue, sum: Sum): string | undefined {
  const saving = costOf(queue, sum, 'written') - costOf(queue, sum, 'read');
  if (!(saving >= leastLoss)) return undefined;
  return (
    `${queue.model}: ${sum.requests} requests of a batch began alike, and each wrote that to the prompt cache. primeCache sends one ` +
    `of them ahead, and the others read it: that would have saved about ${dollars(saving)}`
  );
}

function unreadAdvice(queue: RequestQueue, sum: Sum): string | undefined {
  const { unreadCache, name } = queue.batcher.info;
  const { requests, tokens } = sum;
  const loss = costOf(queue, sum, 'written') - costOf(queue, sum, 'plain');
  if (unreadCache === undefined || requests < 2 || !(loss >= leastLoss)) return undefined;
  return (
    `${queue.model}: ${requests} requests of a batch wrote ${tokens.toLocaleString('en-US')} tokens to the prompt cache of ${name} that ` +
    `none of them read, for ${dollars(loss)}. If no later request begins alike: ${unreadCache}`
  );
}

/** What this input costs as what it was, or would have been; not a number where no price is known. */
function costOf(
  { price, terms }: RequestQueue,
  { tokens, hourTokens }: Sum,
  as: 'written' | 'read' | 'plain',
): number {
  const usage: Usage = {
    inputTokens: tokens,
    outputTokens: 0,
    ...(as === 'read' && { cacheReadTokens: tokens }),
    ...(as === 'written' && {
      cacheWriteTokens: tokens - hourTokens,
      cacheWrite1hTokens: hourTokens,
    }),
  };
  return price.charge(usage, terms)?.paid ?? Number.NaN;
}
