import type { Clock, Dict } from '../../base/types.ts';
import type { ProviderInfo } from '../../batchers/provider-info.ts';
import { sleep } from '../../concurrency/backoff.ts';
import { sha256 } from '../../orchestrator/capture/fingerprint.ts';

/**
 * A client that gives up and asks again at once may be heard before its old connection is known to be closed. Its
 * call waits for that at most so long: a batch takes minutes, and a second sample costs money.
 */
const patience = 1_000;

interface SameCalls {
  underWay: number;
  /** Calls that wait for one of the others to end, in the order of asking. */
  waiting?: Set<AbortController>;
}

/** Calls under way, by what they ask and for which credential. */
export class IdenticalCalls {
  readonly #clock: Clock;
  readonly #calls = new Map<string, SameCalls>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Counts a call with this name, which has to leave again. The promise resolves when the call may be asked; `undefined`:
   * at once. `again`: the client says that it asks again, so that the call re-joins what is under way, whatever
   * became of the old connection.
   */
  enter(name: string, again: boolean): Promise<void> | undefined {
    const same = this.#calls.get(name);
    if (same === undefined) {
      this.#calls.set(name, { underWay: 1 });
      return undefined;
    }
    same.underWay += 1;
    return again ? undefined : this.#wait(same);
  }

  leave(name: string): void {
    const same = this.#calls.get(name);
    if (same === undefined) return;
    same.underWay -= 1;
    if (same.underWay === 0) this.#calls.delete(name);
    const [next] = same.waiting ?? [];
    if (next === undefined) return;
    same.waiting?.delete(next);
    next.abort();
  }

  async #wait(same: SameCalls): Promise<void> {
    const oneHasEnded = new AbortController();
    same.waiting ??= new Set();
    same.waiting.add(oneHasEnded);
    await sleep(this.#clock, patience, oneHasEnded.signal).catch(() => undefined);
    same.waiting.delete(oneHasEnded);
  }
}

/** The same for calls that ask the same with the same credential. */
export function nameOfCall(url: string, headers: Dict, body: Buffer, info: ProviderInfo): string {
  let asked = url;
  for (const name of info.credentialHeaders) asked += `\n${headers[name] ?? ''}`;
  for (const name of info.accountHeaders) asked += `\n${headers[name] ?? ''}`;
  return sha256(`${asked}\n${sha256(body)}`);
}
