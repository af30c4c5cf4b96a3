import { createHash } from 'node:crypto';
import type { Clock } from '../../base/types.ts';
import type { ProviderInfo } from '../../batchers/provider-info.ts';
import { sleep } from '../../concurrency/backoff.ts';
import type { RawRequest } from '../../hooks/raw-call.ts';

/**
 * A client that gives up and asks again at once may be heard before its old connection is known to be closed. Its
 * call waits for that at most so long: a batch takes minutes, and a second sample costs money.
 */
const patience = 1_000;

interface SameCalls {
  underWay: number;
  /** Calls that wait for one of the others to end, in the order of asking. */
  readonly waiting: Set<AbortController>;
}

/** Calls under way, by what they ask and for which credential. */
export class IdenticalCalls {
  readonly #clock: Clock;
  readonly #calls = new Map<string, SameCalls>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Resolves when the call may be asked, with how to say that it is over. `again`: the client says that it asks
   * again, so that the call re-joins what is under way, whatever became of the old connection.
   */
  async enter(call: RawRequest, info: ProviderInfo, again: boolean): Promise<() => void> {
    const name = nameOf(call, info);
    const same = this.#calls.get(name) ?? { underWay: 0, waiting: new Set() };
    this.#calls.set(name, same);
    same.underWay += 1;
    const isKeyed = call.headers['idempotency-key'] !== undefined;
    if (same.underWay > 1 && !again && !isKeyed) await this.#wait(same.waiting);
    return () => {
      same.underWay -= 1;
      if (same.underWay === 0) this.#calls.delete(name);
      const [next] = same.waiting;
      if (next === undefined) return;
      same.waiting.delete(next);
      next.abort();
    };
  }

  async #wait(waiting: Set<AbortController>): Promise<void> {
    const oneHasEnded = new AbortController();
    waiting.add(oneHasEnded);
    await sleep(this.#clock, patience, oneHasEnded.signal).catch(() => undefined);
    waiting.delete(oneHasEnded);
  }
}

function nameOf({ url, headers, body }: RawRequest, info: ProviderInfo): string {
  const hash = createHash('sha256').update(url);
  for (const name of [...info.credentialHeaders, ...info.accountHeaders]) {
    hash.update(`\n${headers[name] ?? ''}`);
  }
  return hash.update('\n').update(body).digest('base64');
}
