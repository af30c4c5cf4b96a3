/** The limits for clients of the gateway. Times in milliseconds, sizes in bytes. */
export interface GatewayLimits {
  readonly bodySize: number;
  readonly headerSize: number;
  /** Requests that wait for their answers, in all. */
  readonly waiting: number;
  /** The same for one client address. */
  readonly waitingPerClient: number;
  readonly connections: number;
  readonly connectionsPerClient: number;
  readonly headersTime: number;
  /** Headers and body together. */
  readonly requestTime: number;
}

export const usualLimits: GatewayLimits = {
  bodySize: 64 * 1024 * 1024,
  headerSize: 32 * 1024,
  waiting: 50_000,
  waitingPerClient: 20_000,
  connections: 60_000,
  connectionsPerClient: 25_000,
  headersTime: 30_000,
  requestTime: 120_000,
};

/** Counts something in all and by client address, with a limit for both. */
export class ClientCount {
  readonly #most: number;
  readonly #mostPerClient: number;
  readonly #byClient = new Map<string, number>();
  #all = 0;

  constructor(most: number, mostPerClient: number) {
    this.#most = most;
    this.#mostPerClient = mostPerClient;
  }

  get all(): number {
    return this.#all;
  }

  /** Counts one more, which has to leave again; false: there is no room. */
  enter(client: string): boolean {
    const mine = this.#byClient.get(client) ?? 0;
    if (this.#all >= this.#most || mine >= this.#mostPerClient) return false;
    this.#all += 1;
    this.#byClient.set(client, mine + 1);
    return true;
  }

  leave(client: string): void {
    this.#all -= 1;
    const left = (this.#byClient.get(client) ?? 1) - 1;
    if (left === 0) this.#byClient.delete(client);
    else this.#byClient.set(client, left);
  }
}
