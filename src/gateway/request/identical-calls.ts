import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProviderInfo } from '../../batchers/provider-info.ts';
import type { RawRequest } from '../../hooks/raw-call.ts';

/**
 * A client that gives up and asks again at once may be heard before its old connection is known to be closed. So
 * long a call waits while the same one is under way: a batch takes minutes, and a second sample costs money.
 */
const patience = 1_000;

/** Calls under way, by what they ask and for which credential. */
export class IdenticalCalls {
  readonly #underWay = new Map<string, number>();

  /**
   * Resolves when the call may be asked, with how to say that it is over. `again`: the client says that it asks
   * again, so that the call re-joins what is under way, whatever became of the old connection.
   */
  async enter(call: RawRequest, info: ProviderInfo, again: boolean): Promise<() => void> {
    const name = nameOf(call, info);
    const others = this.#underWay.get(name) ?? 0;
    this.#underWay.set(name, others + 1);
    const isKeyed = call.headers['idempotency-key'] !== undefined;
    if (others > 0 && !again && !isKeyed) await sleep(patience);
    return () => {
      const left = (this.#underWay.get(name) ?? 1) - 1;
      if (left === 0) this.#underWay.delete(name);
      else this.#underWay.set(name, left);
    };
  }
}

function nameOf({ url, headers, body }: RawRequest, info: ProviderInfo): string {
  const hash = createHash('sha256').update(url);
  for (const name of [...info.credentialHeaders, ...info.accountHeaders]) {
    hash.update(`\n${headers[name] ?? ''}`);
  }
  return hash.update('\n').update(body).digest('base64');
}
