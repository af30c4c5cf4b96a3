import { createRandom, type Random } from '../random.ts';

/** A beginning of a prompt that a provider may keep. */
export interface Prefix {
  /** The same for the same beginning only. */
  hash: string;
  /** How many tokens it has, from the start of the prompt. */
  tokens: number;
  /** Milliseconds that it is kept after a write or a hit. */
  life: number;
  /** Whether this call writes it, and as what that is billed; `free`: it is not. Missing: it is only looked for. */
  write?: 'cacheWrite' | 'cacheWrite1h' | 'free';
}

/** Who asks: entries are shared among calls of one place only, and batches and ordinary calls have one each. */
export interface CacheUser {
  place: string;
  batchId: string | null;
  /** The number of the execution. */
  n: number;
  now: number;
}

export interface CacheUse {
  cacheRead: number;
  cacheWrite: number;
  cacheWrite1h: number;
}

interface Entry {
  /** The number of the execution that wrote it. */
  n: number;
  until: number;
}

const mostEntries = 100_000;

/**
 * What providers keep of prompts. The rows of a batch run together: none of them finds what another one of its batch
 * has written, nor what was written after its batch had begun.
 */
export class PromptCache {
  readonly #seed: number;
  #random: Random;
  readonly #entries = new Map<string, Entry>();
  /** By batch: the number of its first execution. */
  readonly #begun = new Map<string, number>();

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = createRandom(seed);
  }

  /** Looks for the longest prefix, and writes those beyond it. Prefixes come from short to long. */
  use(user: CacheUser, prefixes: readonly Prefix[], hitShare: number): CacheUse {
    const use: CacheUse = { cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 };
    const begun = this.#begunAt(user);
    const isFound = ({ hash }: Prefix) => {
      const entry = this.#entries.get(`${user.place} ${hash}`);
      return entry !== undefined && entry.until > user.now && entry.n < begun;
    };
    const longest = prefixes.findLastIndex(isFound);
    const isHit = longest >= 0 && (hitShare >= 1 || this.#random.next() < hitShare);
    let reached = isHit ? (prefixes[longest] as Prefix).tokens : 0;
    use.cacheRead = reached;
    for (const [at, prefix] of prefixes.entries()) {
      if (isHit && at <= longest) {
        if (isFound(prefix)) this.#keep(user, prefix);
      } else if (prefix.write !== undefined) {
        if (prefix.write !== 'free') use[prefix.write] += prefix.tokens - reached;
        reached = prefix.tokens;
        this.#keep(user, prefix);
      }
    }
    return use;
  }

  reset(): void {
    this.#entries.clear();
    this.#begun.clear();
    this.#random = createRandom(this.#seed);
  }

  #begunAt({ batchId, n }: CacheUser): number {
    if (batchId === null) return n;
    const begun = this.#begun.get(batchId) ?? n;
    this.#begun.set(batchId, begun);
    return begun;
  }

  /** An entry that lives is as old as its first write: batches that saw it go on to see it. */
  #keep({ place, n, now }: CacheUser, { hash, life }: Prefix): void {
    const key = `${place} ${hash}`;
    const entry = this.#entries.get(key);
    const isAlive = entry !== undefined && entry.until > now;
    this.#entries.delete(key);
    this.#entries.set(key, { n: isAlive ? entry.n : n, until: now + life });
    if (this.#entries.size <= mostEntries) return;
    const [oldest] = this.#entries.keys();
    this.#entries.delete(oldest as string);
  }
}
