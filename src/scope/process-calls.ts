import { version } from '../base/version.ts';
import { KeepAlive } from '../concurrency/keep-alive.ts';
import { sharedState } from '../hooks/state.ts';

/** Calls that wait, by where their requests are. */
export interface WaitingCalls {
  /** Calls in batches that a provider has accepted, or that another process sends. */
  readonly submitted: number;
  /** Tokens of the batches that this process has sent. */
  readonly batches: ReadonlySet<string>;
  /** Calls in batches of which nobody knows whether the provider has taken them. */
  readonly unclear: number;
  readonly unsent: number;
}

/** A scope whose calls wait, as the end of the process sees it. */
export interface WaitingScope {
  /** Nothing is left to do for its calls but to wait for their answers, which another process can do. */
  readonly isSubmitted: boolean;
  readonly store: string;
  /** Its ledger outlives the process. */
  readonly isStored: boolean;
  waiting(): WaitingCalls;
  /** Time limits that clients have set for its calls keep the process up no longer. */
  releaseTimers(): void;
  /** The process leaves: nothing more of this scope is sent, and no error of ours reaches its callers. */
  leave(): void;
}

type Listener = (isWaiting: boolean) => void;

/** The scopes of the whole process whose calls wait, and what keeps the process up for them. */
export class ProcessCalls {
  readonly keepAlive = new KeepAlive();
  readonly #scopes = new Set<WaitingScope>();
  readonly #listeners: Listener[] = [];
  /** Calls that are made from now on are neither sent nor answered. */
  isLeaving = false;

  get areWaiting(): boolean {
    return this.#scopes.size > 0;
  }

  get areSubmitted(): boolean {
    for (const scope of this.#scopes) if (!scope.isSubmitted) return false;
    return true;
  }

  get isStored(): boolean {
    return [...this.#scopes].every(({ isStored }) => isStored);
  }

  get stores(): readonly string[] {
    return [...new Set([...this.#scopes].map(({ store }) => store))];
  }

  add(scope: WaitingScope): void {
    this.#scopes.add(scope);
    if (this.#scopes.size === 1) this.#tell(true);
  }

  delete(scope: WaitingScope): void {
    if (this.#scopes.delete(scope) && this.#scopes.size === 0) this.#tell(false);
  }

  /** Calls the listener when the first call begins to wait, and when none waits any more. */
  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** The process may end although calls wait. */
  letProcessEnd(): void {
    this.keepAlive.letGo();
    for (const scope of this.#scopes) scope.releaseTimers();
  }

  leave(): void {
    this.isLeaving = true;
    for (const scope of this.#scopes) scope.leave();
  }

  waiting(): WaitingCalls {
    const all = [...this.#scopes].map((scope) => scope.waiting());
    const sum = (of: (calls: WaitingCalls) => number) =>
      all.reduce((total, calls) => total + of(calls), 0);
    return {
      submitted: sum(({ submitted }) => submitted),
      batches: new Set(all.flatMap(({ batches }) => [...batches])),
      unclear: sum(({ unclear }) => unclear),
      unsent: sum(({ unsent }) => unsent),
    };
  }

  #tell(isWaiting: boolean): void {
    for (const listener of this.#listeners) listener(isWaiting);
  }
}

/** All copies of this version of the package share one: another version may know its scopes in another way. */
export function processCalls(): ProcessCalls {
  const { calls } = sharedState();
  const known = calls.get(version) as ProcessCalls | undefined;
  if (known) return known;
  const made = new ProcessCalls();
  calls.set(version, made);
  return made;
}
