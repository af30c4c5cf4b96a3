/**
 * One HTTP request that reached a provider of the simulator.
 *
 * @example
 * ```ts
 * const polls = simulator.requests.filter(({ method }) => method === 'GET').length;
 * ```
 */
export interface LoggedRequest {
  method: string;
  /** Without the provider's mount prefix and without the query. */
  path: string;
  query: string;
  provider: string;
  /** Short hash of the credential and its scope; null without a credential. */
  account: string | null;
  /** Names in lower case; credentials are replaced by `REDACTED`. */
  headers: Record<string, string>;
  /** The kind of the scripted fault that struck it. */
  fault: string | null;
  /** Milliseconds since the epoch. */
  at: number;
}

const mostKept = 20_000;

export class RequestLog {
  readonly entries: LoggedRequest[] = [];

  add(entry: LoggedRequest): void {
    this.entries.push(entry);
    if (this.entries.length > mostKept) this.entries.splice(0, mostKept / 2);
  }

  count(method: string, path: string | RegExp): number {
    const matches = (entry: LoggedRequest) =>
      entry.method === method &&
      (typeof path === 'string' ? entry.path === path : path.test(entry.path));
    return this.entries.filter(matches).length;
  }

  reset(): void {
    this.entries.length = 0;
  }
}
