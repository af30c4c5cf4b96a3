import type { EngineContext } from '../model/engine-context.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import { TokenQuota } from './token-quota.ts';

/** Limits are raised: tomorrow we try again. */
const remembered = 24 * 3_600_000;

/** The token quotas of one engine, by account, base and model. Named limits are kept in the ledger. */
export class Quotas {
  readonly #context: EngineContext;
  readonly #quotas = new Map<string, Promise<TokenQuota>>();

  constructor(context: EngineContext) {
    this.#context = context;
  }

  of(queue: RequestQueue): Promise<TokenQuota> {
    const key = `${queue.account.id}\n${nameOf(queue)}`;
    let quota = this.#quotas.get(key);
    if (quota === undefined) {
      quota = this.#open(queue);
      this.#quotas.set(key, quota);
    }
    return quota;
  }

  async close(): Promise<void> {
    for (const quota of this.#quotas.values()) (await quota).close();
  }

  async #open(queue: RequestQueue): Promise<TokenQuota> {
    const { account, limits } = queue;
    const name = nameOf(queue);
    const { ledger, clock, background } = this.#context;
    const { tokens, outlives } = limits;
    const onNamed = (named: number) => {
      const noted = ledger.learn(account.id, name, { tokens: named, named: true });
      background(`note how much of ${name} may be under way`, noted);
    };
    return new TokenQuota(
      clock,
      (await this.#known(account.id, name)) ?? tokens,
      outlives,
      onNamed,
    );
  }

  /** A ledger that cannot be read costs a refusal, not the batch. */
  async #known(account: number, name: string): Promise<number | undefined> {
    const { ledger, report } = this.#context;
    try {
      const known = await ledger.limit(account, name);
      return known?.named && known.age < remembered ? known.tokens : undefined;
    } catch (error) {
      report(`look up how much of ${name} may be under way`, error);
      return undefined;
    }
  }
}

/** One key may be used at several bases, a dummy one above all: each has a quota of its own. */
function nameOf({ model, wire }: RequestQueue): string {
  return `${model} at ${wire.base}`;
}
