import type { EngineScope } from '../model/call.ts';
import type { Request } from '../model/request.ts';

interface Waiting {
  readonly requests: Set<Request>;
  /** How many they were at the last look. */
  before: number;
}

/** Tells each scope once how many of its requests another living process has sent. */
export class ElsewhereNotices {
  readonly #waiting = new Map<EngineScope, Waiting>();
  readonly #told = new WeakSet<EngineScope>();
  readonly #lease: number | undefined;

  constructor(lease: number | undefined) {
    this.#lease = lease;
  }

  add(request: Request): void {
    const { scope } = request;
    if (this.#told.has(scope)) return;
    const waiting = this.#waiting.get(scope) ?? { requests: new Set(), before: 0 };
    this.#waiting.set(scope, waiting);
    waiting.requests.add(request);
  }

  remove(request: Request): void {
    for (const { scope } of request.callers) this.#waiting.get(scope)?.requests.delete(request);
  }

  /** Called every so often: a number that still grows is not told yet. */
  tell(): void {
    for (const [scope, waiting] of this.#waiting) {
      const { size: count } = waiting.requests;
      if (count > 0 && count === waiting.before) {
        this.#told.add(scope);
        this.#waiting.delete(scope);
        scope.emit('notice', {
          notice: 'elsewhere',
          count,
          ...(this.#lease && { lease: this.#lease }),
        });
      }
      waiting.before = count;
    }
  }
}
