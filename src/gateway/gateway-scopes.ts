import { BatchlingError } from '../base/errors.ts';
import { addStats, emptyStats, type Stats } from '../orchestrator/model/stats.ts';
import type { Tenancy } from '../scope/engine/engines.ts';
import { Scope } from '../scope/scope.ts';
import { GatewayError } from './gateway-error.ts';

/** A scope without calls is closed after so long. */
const idleTime = 60_000;
/** A client that invents options for every request must not use up the memory of all. */
const mostScopes = 1_000;

/** A scope with these options, for as long as its call takes. */
export interface LentScope {
  readonly scope: Scope;
  giveBack(): void;
}

/** One object for all calls with these options. */
class OpenScope implements LentScope {
  readonly scope: Scope;
  users = 0;
  timer: NodeJS.Timeout | undefined;
  readonly #whenIdle: (open: OpenScope) => void;

  constructor(scope: Scope, whenIdle: (open: OpenScope) => void) {
    this.scope = scope;
    this.#whenIdle = whenIdle;
  }

  giveBack(): void {
    this.users -= 1;
    if (this.users === 0) this.#whenIdle(this);
  }
}

/** One scope for each set of options that requests ask for. */
export class GatewayScopes {
  readonly #base: Readonly<Record<string, unknown>>;
  readonly #tenancy: Tenancy;
  readonly #most: number;
  readonly #scopes = new Map<string, OpenScope>();
  /** The stats of scopes that are closed. */
  readonly #past = emptyStats();

  /** `base`: the options of the gateway itself. */
  constructor(base: Readonly<Record<string, unknown>>, tenancy: Tenancy, most = mostScopes) {
    this.#base = base;
    this.#tenancy = tenancy;
    this.#most = most;
  }

  /** `key`: the same text for the same options. */
  lend(key: string, options: Readonly<Record<string, unknown>>): LentScope {
    const open = this.#scopes.get(key) ?? this.#open(key, options);
    open.users += 1;
    clearTimeout(open.timer);
    return open;
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    await Promise.all([...this.#scopes.values()].map(({ scope }) => scope.close()));
  }

  stats(): Stats {
    const sum = emptyStats();
    addStats(sum, this.#past);
    for (const { scope } of this.#scopes.values()) addStats(sum, scope.calls.events.stats);
    return sum;
  }

  #open(key: string, options: Readonly<Record<string, unknown>>): OpenScope {
    if (this.#scopes.size >= this.#most) this.#closeAnIdleOne();
    // Requests without options are never held up by requests with too many different ones.
    if (this.#scopes.size >= this.#most && Object.keys(options).length > 0) {
      const message = 'Requests with too many different options wait here. Try again later.';
      throw new GatewayError('too_many_waiting', message);
    }
    const scope = this.#newScope(options);
    const open = new OpenScope(scope, (idle) => this.#closeLater(key, idle));
    this.#scopes.set(key, open);
    return open;
  }

  #newScope(options: Readonly<Record<string, unknown>>): Scope {
    try {
      return new Scope({ ...this.#base, ...options }, false, 'block', this.#tenancy);
    } catch (error) {
      if (!BatchlingError.isInstance(error)) throw error;
      throw new GatewayError('bad_header', error.message);
    }
  }

  #closeLater(key: string, open: OpenScope): void {
    open.timer = setTimeout(() => this.#close(key, open), idleTime).unref();
  }

  #closeAnIdleOne(): void {
    const idle = [...this.#scopes].find(([, { users }]) => users === 0);
    if (idle) this.#close(...idle);
  }

  #close(key: string, open: OpenScope): void {
    clearTimeout(open.timer);
    this.#scopes.delete(key);
    addStats(this.#past, open.scope.calls.events.stats);
    // Its clients may have gone while their requests are still under way: the engine goes on with them.
    void open.scope.close().catch(() => undefined);
  }
}
